package jp

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// Activated returns the conversations that were activated in JP's session of this process, the last first; some may be
// archived or removed. There are none without a session or a user's store.
func (w *Workspace) Activated() ([]transcript.ID, error) {
	const maxSize = 1 << 20
	name := sessionFile(w.getenv)
	if name == "" || w.user == "" {
		return nil, nil
	}
	data, err := safefile.Read(filepath.Join(w.user, "sessions", name), maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the session of JP in %s: %w", w.user, history.Reason(err))
	}
	var session struct {
		History []struct {
			ID number `json:"id"`
		} `json:"history"`
	}
	if err := json.Unmarshal(data, &session); err != nil {
		return nil, fmt.Errorf("reading the session of JP: %w", err)
	}
	var ids []transcript.ID
	for _, entry := range session.History {
		if entry.ID >= 0 { // no id is negative
			ids = append(ids, entry.ID.id())
		}
	}
	return ids, nil
}

// sessionFile returns the name of the file of JP's session of this process, or "" if there is none. The file is named
// after the variable JP_SESSION, or else the terminal session of the operating system, or else a variable of a terminal.
func sessionFile(getenv func(string) string) string {
	ofVariable := func(name string) string {
		value := getenv(name)
		if value == "" {
			return ""
		}
		sum := sha256.Sum256([]byte(value))
		return "env-" + name + "-" + fmt.Sprintf("%x", sum[:8]) + ".json"
	}
	ofSystem := ""
	if kind, id := terminalSession(); id != "" {
		ofSystem = kind + "-" + id + ".json"
	}
	return cmp.Or(ofVariable("JP_SESSION"), ofSystem, ofVariable("TMUX_PANE"), ofVariable("WEZTERM_PANE"), ofVariable("TERM_SESSION_ID"), ofVariable("ITERM_SESSION_ID"))
}
