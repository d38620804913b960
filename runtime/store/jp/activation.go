package jp

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// maxSessionSize bounds what is read of a session's history.
const maxSessionSize = 1 << 20

// Activated returns the conversations that were activated in the session of JP
// that this process belongs to, the last one first; some may be archived or gone.
// There are none where there is no session, or no store of the user's.
func (w *Workspace) Activated() ([]transcript.ID, error) {
	who := sessionOf(w.getenv)
	if who.id == "" || w.user == "" {
		return nil, nil
	}
	root, err := safefile.OpenDir(w.user)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", w.user, reason(err))
	}
	defer root.Close()
	ids, err := readActivated(root, "sessions/"+who.file()+".json", who)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return ids, err
}

// sessionID is who a session is, as JP finds it out.
type sessionID struct {
	kind string // "getsid", "hwnd" or "env"
	key  string // the environment variable
	id   string // empty where there is no session
}

func sessionOf(getenv func(string) string) sessionID {
	for _, key := range []string{"JP_SESSION", "", "TMUX_PANE", "WEZTERM_PANE", "TERM_SESSION_ID", "ITERM_SESSION_ID"} {
		who := sessionID{kind: "env", key: key}
		if key == "" {
			who.kind, who.id = terminalSession()
		} else {
			who.id = getenv(key)
		}
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
	return fmt.Sprintf("env-%s-%.16x", s.key, sha256.Sum256([]byte(s.id)))[:len("env-")+len(s.key)+1+16]
}

func readActivated(root *os.Root, name string, who sessionID) ([]transcript.ID, error) {
	data, err := safefile.ReadIn(root, name, maxSessionSize)
	if err != nil {
		return nil, err
	}
	var file struct {
		History []struct {
			ID number `json:"id"`
		} `json:"history"`
		ID     string `json:"id"`
		Source struct {
			Type string `json:"type"`
			Key  string `json:"key"`
		} `json:"source"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("reading the session of JP: %w", err)
	}
	if cmp.Or(file.ID, who.id) != who.id || cmp.Or(file.Source.Type, who.kind) != who.kind || cmp.Or(file.Source.Key, who.key) != who.key {
		return nil, nil // another session that once had this name
	}
	var ids []transcript.ID
	for _, entry := range file.History {
		if entry.ID >= 0 {
			ids = append(ids, entry.ID.id())
		}
	}
	return ids, nil
}
