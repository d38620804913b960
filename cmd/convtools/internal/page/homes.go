package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// fillSample writes the bundled sample: a week of a project, its knowledge, and a session of conversations.
func fillSample(l *lab) error {
	for from, to := range map[string]string{"claude-code": l.claudeFolder(), "codex": filepath.Join(l.home, ".codex", "sessions", "2026", "05")} {
		files, _ := filepath.Glob(filepath.Join(l.testdata, "sample", from, "*.jsonl")) // the pattern is valid
		if len(files) == 0 {
			return fmt.Errorf("the sample has no files of %s", from)
		}
		for _, file := range files {
			recorded, err := os.ReadFile(file)
			err = errors.Join(err, writeFile(filepath.Join(to, filepath.Base(file)), strings.ReplaceAll(string(recorded), "@PROJECT@", l.project)))
			if err != nil {
				return err
			}
		}
	}
	if err := os.CopyFS(l.project, os.DirFS(filepath.Join(l.testdata, "knowledge"))); err != nil {
		return err
	}
	models, err := os.ReadFile(filepath.Join(l.testdata, "session", "convtools.toml"))
	if err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join(l.testdata, "session", "trip.toml"))
	return errors.Join(err, writeFile(filepath.Join(l.project, "trip.toml"), string(script)), appendFile(filepath.Join(l.project, "convtools.toml"), string(models)))
}

// query begins a session of conversations with the model that answers from a file.
func (l *lab) query(words string) error {
	command := exec.Command(l.convtools, "query", words) //nolint:gosec // built here
	command.Dir, command.Env = l.project, l.env()
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("convtools query: %w\n%s", err, out)
	}
	return nil
}

// claudeFolder returns the directory of the project's sessions of Claude Code. Its name is the project's path.
func (l *lab) claudeFolder() string {
	name := regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(l.project, "-")
	return filepath.Join(l.home, ".claude", "projects", name)
}

// record is a line of a session of Claude Code.
type record map[string]any

// writeSession writes a session of Claude Code with a message of each content, in turn of the user and the assistant.
func (l *lab) writeSession(id, cwd, branch string, contents ...any) error {
	at := time.Date(2026, 5, 9, 8, 0, 0, 0, time.UTC)
	var lines strings.Builder
	for i, content := range contents {
		role := []string{"user", "assistant"}[i%2]
		line, err := json.Marshal(record{
			"type": role, "uuid": fmt.Sprintf("%s-%d", id, i), "sessionId": id, "cwd": cwd, "gitBranch": branch, "version": "2.1.0",
			"timestamp": at.Add(time.Duration(i) * time.Minute), "message": record{"role": role, "content": content},
		})
		if err != nil {
			return err
		}
		lines.Write(append(line, '\n'))
	}
	return writeFile(filepath.Join(l.claudeFolder(), id+".jsonl"), lines.String())
}

// fillLong returns a function that writes a conversation with the given number of requests, each with an answer.
func fillLong(requests int) func(*lab) error {
	return func(l *lab) error {
		var contents []any
		for i := range requests {
			contents = append(contents, fmt.Sprintf("Request %d: %s", i, strings.Repeat("what is it? ", 8)), fmt.Sprintf("Answer %d.\n\n%s", i, strings.Repeat("It is so. ", 40)))
		}
		return l.writeSession(longSession, l.project, "main", contents...)
	}
}

const longSession = "11111111-1111-4111-8111-111111111111"

func writeFile(name, content string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(content), 0o600))
}

func appendFile(name, content string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n" + content)
	return errors.Join(err, f.Close())
}
