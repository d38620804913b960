package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/claudehome"
	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/process"
)

// corpus is public conversations as sessions of Claude Code, and questions about
// them. It is known which sessions answer a question.
type corpus struct {
	claudehome.Home
	questions []publicQuestion
}

// message is a text of a session.
type message struct{ session, text string }

// publicQuestion is a question, with the sessions that answer it and, where they are known, the messages.
type publicQuestion struct {
	asked    string
	sessions []string
	evidence []message // nil if the messages are not known
}

// loadLoCoMo returns a corpus for each file in dir, which has the conversations of
// two speakers. It writes the sessions of the corpora below scratch.
func loadLoCoMo(_ context.Context, dir, scratch string) (corpora []corpus, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("there are no conversations in %s", dir))
	}
	for i, file := range files {
		c := corpus{Home: claudehome.New(filepath.Join(scratch, fmt.Sprint(i)), "project")}
		if err := c.loadPair(file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		corpora = append(corpora, c)
	}
	return corpora, nil
}

// loadPair writes the conversations of a file as sessions of the corpus, and adds the questions in the file to the
// corpus. The first of the two speakers becomes the user. A question without known evidence is left out.
func (c *corpus) loadPair(file string) error {
	var pair struct {
		User string `json:"speaker_a"`
		QA   []struct {
			Question string
			Evidence []string
		}
	}
	var members map[string]json.RawMessage // session_1, session_2 and so on
	if err := errors.Join(readJSON(file, &pair), readJSON(file, &members)); err != nil {
		return err
	}
	byID := map[string]message{}
	for n := 1; members[fmt.Sprintf("session_%d", n)] != nil; n++ {
		var turns []struct {
			ID      string `json:"dia_id"`
			Speaker string
			Text    string
			Caption string `json:"blip_caption"`
		}
		if err := json.Unmarshal(members[fmt.Sprintf("session_%d", n)], &turns); err != nil {
			return err
		}
		session := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		var messages []claudehome.Message
		for _, t := range turns {
			m := claudehome.Message{Role: "assistant", Text: t.Speaker + ": " + t.Text}
			if t.Speaker == pair.User {
				m.Role = "user"
			}
			if t.Caption != "" {
				m.Text += " [a picture: " + t.Caption + "]"
			}
			byID[t.ID] = message{session, m.Text}
			messages = append(messages, m)
		}
		if err := c.Write(session, time.Date(2023, 1, 7*n, 12, 0, 0, 0, time.UTC), slices.Values(messages)); err != nil {
			return err
		}
	}
	for _, qa := range pair.QA {
		q := publicQuestion{asked: qa.Question}
		for _, id := range strings.FieldsFunc(strings.Join(qa.Evidence, " "), func(r rune) bool { return strings.ContainsRune(" ;,", r) }) {
			if m, ok := byID[id]; ok {
				q.evidence = append(q.evidence, m)
				q.sessions = append(q.sessions, m.session)
			}
		}
		if len(q.evidence) > 0 {
			c.questions = append(c.questions, q)
		}
	}
	return nil
}

// minWords is the least number of words in the subject of a commit that becomes a question.
const minWords = 3

// loadSessions returns a corpus of the coding sessions in dir, which it unpacks below scratch. The subject of a commit is
// a question if it has at least minWords words, and the sessions that made the commit are the answer.
func loadSessions(ctx context.Context, dir, scratch string) ([]corpus, error) {
	const recordedIn = "/home/dev/cli" // the path of the project in the sessions
	c := corpus{Home: claudehome.New(scratch, "cli")}
	if err := os.MkdirAll(c.Project, 0o700); err != nil {
		return nil, err
	}
	unpack := process.Command{Path: "tar", Args: []string{"-xf", filepath.Join(dir, "home.tar.xz"), "-C", scratch}, Env: os.Environ()}
	if _, err := repository.Output(ctx, unpack); err != nil {
		return nil, err
	}
	// Claude Code names the folder of a project's sessions after the path of the project, which is now c.Project.
	if err := os.Rename(claudehome.Home{Dir: c.Dir, Project: recordedIn}.Folder(), c.Folder()); err != nil {
		return nil, err
	}
	err := c.walk(func(path string, data []byte) error { // the sessions have the path of the project too
		return os.WriteFile(path, bytes.ReplaceAll(data, []byte(recordedIn), []byte(c.Project)), 0o600)
	})
	if err != nil {
		return nil, err
	}
	var commits []struct {
		Subject  string
		Sessions []string
	}
	if err := readJSON(filepath.Join(dir, "labels.json"), &commits); err != nil {
		return nil, err
	}
	for _, commit := range commits {
		if len(strings.Fields(commit.Subject)) < minWords {
			continue
		}
		i := slices.IndexFunc(c.questions, func(q publicQuestion) bool { return q.asked == commit.Subject })
		if i < 0 {
			i = len(c.questions)
			c.questions = append(c.questions, publicQuestion{asked: commit.Subject})
		}
		c.questions[i].sessions = append(c.questions[i].sessions, commit.Sessions...)
	}
	return []corpus{c}, nil
}

// walk calls do with the path and the content of each session.
func (c *corpus) walk(do func(path string, data []byte) error) error {
	return filepath.WalkDir(c.Folder(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return do(path, data)
	})
}

// messages returns the texts of all sessions. These include what a model thought and
// the arguments of calls, but not the results of tools.
func (c *corpus) messages() (messages []message, err error) {
	err = c.walk(func(path string, data []byte) error {
		session := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		for line := range bytes.Lines(data) {
			var record struct {
				Message struct{ Content json.RawMessage }
			}
			var text string
			var blocks []struct {
				Text, Thinking string
				Input          json.RawMessage
			}
			// A damaged line, and content of another type, has no text.
			_ = json.Unmarshal(line, &record)
			_ = json.Unmarshal(record.Message.Content, &text)
			_ = json.Unmarshal(record.Message.Content, &blocks)
			texts := []string{text}
			for _, b := range blocks {
				texts = append(texts, b.Text+b.Thinking+string(b.Input))
			}
			for _, text := range texts {
				if text != "" {
					messages = append(messages, message{session, text})
				}
			}
		}
		return nil
	})
	return messages, err
}

func readJSON(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
