package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/claudehome"
)

// corpus is sessions of Claude Code that nobody here wrote, in a home of its own, and questions
// with the places of their answers.
type corpus struct {
	name string
	claudehome.Home
	texts     []sessionText
	questions []publicQuestion
}

// sessionText is a text of a session.
type sessionText struct{ session, text string }

// publicQuestion is a question, with the texts that answer it, or where there are none with the
// sessions that do.
type publicQuestion struct {
	asked    string
	evidence []sessionText
	sessions []string
}

// locomo makes the pairs of LoCoMo in a directory into corpora in another one: a session each,
// of which one of the two is the user.
func locomo(dir, scratch string) ([]*corpus, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("there are no conversations in %s", dir))
	}
	var all []*corpus
	for _, file := range files {
		c, err := pairOf(file, filepath.Join(scratch, strings.TrimSuffix(filepath.Base(file), ".json")))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// homeIn returns a home of Claude Code below a directory, where programs look for it.
func homeIn(scratch, project string) claudehome.Home {
	return claudehome.Home{Dir: filepath.Join(scratch, "home", ".claude"), Project: filepath.Join(scratch, project)}
}

func pairOf(file, scratch string) (*corpus, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	var pair struct {
		User string `json:"speaker_a"`
		QA   []struct {
			Question string
			Evidence []string
		}
	}
	if err := errors.Join(json.Unmarshal(data, &members), json.Unmarshal(data, &pair)); err != nil {
		return nil, err
	}
	c := &corpus{name: "locomo", Home: homeIn(scratch, "project")}
	at := map[string]sessionText{}
	for n := 1; members[fmt.Sprintf("session_%d", n)] != nil; n++ {
		var turns []struct {
			ID      string `json:"dia_id"`
			Speaker string
			Text    string
			Caption string `json:"blip_caption"`
		}
		if err := json.Unmarshal(members[fmt.Sprintf("session_%d", n)], &turns); err != nil {
			return nil, err
		}
		session := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		var messages []claudehome.Message
		for _, t := range turns {
			said := t.Speaker + ": " + t.Text
			if t.Caption != "" {
				said += " [a picture: " + t.Caption + "]"
			}
			at[t.ID] = sessionText{session, said}
			c.texts = append(c.texts, at[t.ID])
			role := "assistant"
			if t.Speaker == pair.User {
				role = "user"
			}
			messages = append(messages, claudehome.Message{Role: role, Text: said})
		}
		if err := c.Write(session, time.Date(2023, 1, 7*n, 12, 0, 0, 0, time.UTC), slices.Values(messages)); err != nil {
			return nil, err
		}
	}
	for _, qa := range pair.QA {
		q := publicQuestion{asked: qa.Question}
		for _, id := range strings.FieldsFunc(strings.Join(qa.Evidence, " "), func(r rune) bool { return r == ' ' || r == ';' || r == ',' }) {
			if text, ok := at[id]; ok {
				q.evidence = append(q.evidence, text)
				q.sessions = append(q.sessions, text.session)
			}
		}
		if len(q.evidence) > 0 {
			c.questions = append(c.questions, q)
		}
	}
	return c, nil
}

// leastWords is how many words the subject of a commit has that is asked about.
const leastWords = 3

// codingSessions makes the coding sessions in a directory into a corpus in another one.
func codingSessions(ctx context.Context, dir, scratch string) (*corpus, error) {
	c := &corpus{name: "sessions", Home: homeIn(scratch, "cli")}
	if err := errors.Join(os.MkdirAll(scratch, 0o700), os.MkdirAll(c.Project, 0o700)); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, "tar", "-xf", filepath.Join(dir, "home.tar.xz"), "-C", scratch).CombinedOutput(); err != nil { //nolint:forbidigo,gosec // a directory that the caller names
		return nil, fmt.Errorf("unpacking the sessions: %w: %s", err, out)
	}
	const recorded = "/home/dev/cli"
	from := filepath.Join(c.Dir, "projects", "-home-dev-cli")
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := c.read(strings.TrimSuffix(filepath.Base(path), ".jsonl"), string(data)); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(data), recorded, c.Project)), 0o600)
	})
	if err == nil {
		err = os.Rename(from, c.Folder())
	}
	if err != nil {
		return nil, err
	}
	return c, c.label(filepath.Join(dir, "labels.json"))
}

// label makes a question of each commit.
func (c *corpus) label(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var commits []struct {
		Subject  string
		Sessions []string
	}
	if err := json.Unmarshal(data, &commits); err != nil {
		return err
	}
	for _, commit := range commits {
		if len(strings.Fields(commit.Subject)) < leastWords {
			continue
		}
		i := slices.IndexFunc(c.questions, func(q publicQuestion) bool { return q.asked == commit.Subject })
		if i < 0 {
			i = len(c.questions)
			c.questions = append(c.questions, publicQuestion{asked: commit.Subject})
		}
		c.questions[i].sessions = append(c.questions[i].sessions, commit.Sessions...)
	}
	return nil
}

// read reads the texts of a session, for the peer.
func (c *corpus) read(session, lines string) error {
	scan := bufio.NewScanner(strings.NewReader(lines))
	scan.Buffer(nil, len(lines)+1)
	for scan.Scan() {
		var line struct {
			Message struct{ Content json.RawMessage }
		}
		if json.Unmarshal(scan.Bytes(), &line) != nil {
			continue // damage, as it was recorded
		}
		var text string
		if json.Unmarshal(line.Message.Content, &text) == nil {
			c.texts = append(c.texts, sessionText{session, text})
			continue
		}
		var blocks []struct {
			Text, Thinking string
			Input          json.RawMessage
		}
		_ = json.Unmarshal(line.Message.Content, &blocks) // other content has no text
		for _, b := range blocks {
			if said := b.Text + b.Thinking + string(b.Input); said != "" {
				c.texts = append(c.texts, sessionText{session, said})
			}
		}
	}
	return scan.Err()
}
