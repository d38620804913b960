package jp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// Activated returns the conversations that were activated in the session of JP
// that this process belongs to, the last one first; some may be archived or gone.
// There are none where there is no session, or no store of the user's.
func (w *Workspace) Activated() ([]transcript.ID, error) {
	const maxSize = 1 << 20
	who := sessionOf(w.getenv)
	if who.id == "" || w.user == "" {
		return nil, nil
	}
	root, err := safefile.OpenDir(w.user)
	if err == nil {
		defer root.Close()
		var data []byte
		if data, err = safefile.ReadIn(root, "sessions/"+who.file()+".json", maxSize); err == nil {
			return activated(data)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, fmt.Errorf("opening the session of JP in %s: %w", w.user, reason(err))
}

// sessionID is who a session is, as JP finds it out.
type sessionID struct {
	kind string // "getsid", "hwnd" or "env"
	key  string // the environment variable
	id   string // empty where there is no session
}

func sessionOf(getenv func(string) string) sessionID {
	kind, id := terminalSession()
	all := []sessionID{{"env", "JP_SESSION", getenv("JP_SESSION")}, {kind, "", id}}
	for _, key := range []string{"TMUX_PANE", "WEZTERM_PANE", "TERM_SESSION_ID", "ITERM_SESSION_ID"} {
		all = append(all, sessionID{"env", key, getenv(key)})
	}
	for _, who := range all {
		if who.id != "" {
			return who
		}
	}
	return sessionID{}
}

// file is the name, without its extension, of the file with the session's history.
func (s sessionID) file() string {
	if s.kind != "env" {
		return s.kind + "-" + s.id
	}
	sum := sha256.Sum256([]byte(s.id))
	return "env-" + s.key + "-" + hex.EncodeToString(sum[:8])
}

func activated(data []byte) (ids []transcript.ID, err error) {
	var file struct {
		History []struct {
			ID number `json:"id"`
		} `json:"history"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("reading the session of JP: %w", err)
	}
	for _, entry := range file.History {
		if entry.ID >= 0 {
			ids = append(ids, entry.ID.id())
		}
	}
	return ids, nil
}
