// Package claudehome writes sessions as Claude Code records them, for the commands that measure convtools.
package claudehome

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Home is a home directory with the sessions of one project.
type Home struct{ Dir, Project string }

// New returns the home of a project; both are directories below dir.
func New(dir, project string) Home {
	return Home{Dir: filepath.Join(dir, "home"), Project: filepath.Join(dir, project)}
}

// Message is a message of a session.
type Message struct {
	Role string // user, assistant or tool
	Text string // of a tool: the result of a call
	// Other is recorded beside the text, as programs record whole files. It is no text of the conversation.
	Other string
}

// Folder returns the directory of the project's sessions. Its name is the
// project's path, with hyphens for other characters than letters and digits.
func (h Home) Folder() string {
	name := regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(h.Project, "-")
	return filepath.Join(h.Dir, ".claude", "projects", name)
}

// Write writes a session. Its first record is a minute after at, and each of the others a minute after the one before.
// A message of a tool has two records, a call and its result. The field Other of a message is recorded as "snapshot".
func (h Home) Write(session string, at time.Time, messages iter.Seq[Message]) (err error) {
	if err := errors.Join(os.MkdirAll(h.Folder(), 0o700), os.MkdirAll(h.Project, 0o700)); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(h.Folder(), session+".jsonl"))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	defer func() { err = errors.Join(err, w.Flush(), f.Close()) }()
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	var parent any
	record := func(role string, content any, snapshot string) {
		at = at.Add(time.Minute)
		id := fmt.Sprintf("%s-%d", session, at.Unix())
		err = errors.Join(err, lines.Encode(map[string]any{
			"parentUuid": parent, "uuid": id, "sessionId": session, "cwd": h.Project, "version": "2.1.0", "type": role,
			"timestamp": at.Format(time.RFC3339), "isSidechain": false, "userType": "external",
			"message": map[string]any{"role": role, "content": content}, "snapshot": snapshot,
		}))
		parent = id
	}
	for m := range messages {
		switch m.Role {
		case "user":
			record("user", m.Text, m.Other)
		case "tool":
			id := fmt.Sprintf("toolu_%d", at.Unix())
			record("assistant", []any{map[string]any{"type": "tool_use", "id": id, "name": "Read", "input": map[string]string{"file_path": "/src/file.go"}}}, "")
			record("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": m.Text}}, m.Other)
		default:
			record("assistant", []any{map[string]any{"type": "text", "text": m.Text}}, m.Other)
		}
	}
	return err
}
