package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

//go:embed questions
var questionFiles embed.FS

// maxSentence is how many characters a sentence has at most that shows that an
// answer is in view: as few as tell it from everything else.
const maxSentence = 150

// questionSet is the questions about one workspace.
type questionSet struct {
	Name      string     // of the file
	Workspace string     // directory, from the root of the repository
	Data      string     // or, from the directory of data that is not part of it
	Questions []question `toml:"question"`
}

// question is something a user asks about earlier conversations.
type question struct {
	Asked string
	Kind  string
	// Answers are all to be in view; without any, the answer is that there is
	// nothing.
	Answers []sentence
	Calls   []call
}

// sentence is text of one event, which nobody can show without showing the answer.
type sentence struct {
	In   string // conversation
	Says string // in one line of the event
}

// call is a call of one of the three tools. An argument that begins with $ is an
// attribute, of the element that At finds or of one that it stands in.
type call struct {
	At   string // text of an element in an earlier answer
	List map[string]any
	Grep map[string]any
	Read map[string]any
}

// tool returns what is called, and with what.
func (c call) tool() (name string, arguments map[string]any) {
	switch {
	case c.List != nil:
		return "conversation_list", c.List
	case c.Grep != nil:
		return "conversation_grep", c.Grep
	}
	return "conversation_read", c.Read
}

func loadQuestions() ([]questionSet, error) {
	files, err := fs.Glob(questionFiles, "questions/*.toml")
	if err != nil {
		return nil, fmt.Errorf("finding the questions: %w", err)
	}
	sets := make([]questionSet, 0, len(files))
	for _, file := range files {
		set := questionSet{Name: strings.TrimSuffix(path.Base(file), ".toml")}
		data, err := questionFiles.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading questions: %w", err)
		}
		meta, err := toml.Decode(string(data), &set)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		var problems []error
		for _, key := range meta.Undecoded() {
			problems = append(problems, fmt.Errorf("unknown key %s", key))
		}
		for _, q := range set.Questions {
			if err := q.check(); err != nil {
				problems = append(problems, fmt.Errorf("%q: %w", q.Asked, err))
			}
		}
		if err := errors.Join(problems...); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		sets = append(sets, set)
	}
	return sets, nil
}

func (q question) check() error {
	if q.Asked == "" || q.Kind == "" || len(q.Calls) == 0 {
		return errors.New("asked, kind and calls are needed")
	}
	for _, s := range q.Answers {
		if n := utf8.RuneCountInString(s.Says); s.In == "" || n == 0 || n > maxSentence {
			return fmt.Errorf("an answer needs its conversation and a sentence of at most %d characters", maxSentence)
		}
	}
	for _, c := range q.Calls {
		tools := 0
		for _, arguments := range []map[string]any{c.List, c.Grep, c.Read} {
			if arguments != nil {
				tools++
			}
		}
		if tools != 1 {
			return errors.New("each call is of one tool")
		}
	}
	return nil
}
