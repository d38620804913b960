package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

//go:embed questions
var questionFiles embed.FS

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

	made   []made // until the answer was in view
	chars  int
	missed error // why it never was
}

// made is a call that was made.
type made struct{ call, answer string }

// sentence is text of one event, which nobody can show without showing the answer.
type sentence struct {
	In   string // conversation
	Says string // in one line of the event
}

// call is a call of one of the three tools. An argument that begins with $ is an
// attribute, of the text that At is in or of an element around it.
type call struct {
	At   string // in an earlier answer
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

func loadQuestions() (sets []questionSet, err error) {
	files, err := fs.Glob(questionFiles, "questions/*.toml")
	for _, file := range files {
		set := questionSet{Name: strings.TrimSuffix(path.Base(file), ".toml")}
		meta, err := toml.DecodeFS(questionFiles, file, &set)
		if err == nil && len(meta.Undecoded()) > 0 {
			err = fmt.Errorf("unknown keys %v", meta.Undecoded())
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		sets = append(sets, set)
	}
	return sets, err
}

// ask asks all questions of a set.
func (s *questionSet) ask(ctx context.Context, convtools, workspace, home string) (err error) {
	a, err := open(ctx, convtools, workspace, home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	for i := range s.Questions {
		if err := s.Questions[i].ask(ctx, a); err != nil {
			return fmt.Errorf("%q: %w", s.Questions[i].Asked, err)
		}
	}
	return nil
}

// ask makes the calls of a question, in order, until its answers are in view.
func (q *question) ask(ctx context.Context, a *asking) error {
	var seen [][]piece
	missing := slices.Clone(q.Answers)
	for _, c := range q.Calls {
		arguments, err := c.form(seen)
		if err != nil {
			q.missed = err
			return nil
		}
		tool, _ := c.tool()
		answer, err := a.text(ctx, tool, arguments)
		if err != nil {
			return err
		}
		written, err := json.Marshal(arguments)
		if err != nil {
			return fmt.Errorf("writing the arguments of %s: %w", tool, err)
		}
		q.made = append(q.made, made{tool + " " + string(written), answer})
		q.chars += utf8.RuneCountInString(answer)
		shown := pieces(answer)
		seen = append(seen, shown)
		missing = slices.DeleteFunc(missing, func(s sentence) bool { return shows(shown, s) })
		if len(missing) == 0 && (len(q.Answers) > 0 || showsNothing(answer, shown)) {
			return nil
		}
	}
	q.missed = errors.New("no answer shows that there is nothing")
	if len(missing) > 0 {
		q.missed = fmt.Errorf("%q of %s was never in view", missing[0].Says, missing[0].In)
	}
	return nil
}

// shows reports whether an answer has the sentence, as said in its conversation.
func shows(answer []piece, s sentence) bool {
	return slices.ContainsFunc(answer, func(p piece) bool {
		return p.element != "note" && p.attrs["id"] == s.In && strings.Contains(p.text, spaced(s.Says))
	})
}

// showsNothing reports whether an answer of conversation_grep says that nothing matches.
func showsNothing(answer string, shown []piece) bool {
	is := func(elements ...string) bool {
		return slices.ContainsFunc(shown, func(p piece) bool { return slices.Contains(elements, p.element) })
	}
	return strings.HasPrefix(answer, "<conversation_grep") && strings.Contains(answer, ` matches="0"`) && is("note") && !is("hit", "event")
}

// form returns the arguments of a call, as one would write them who has seen the
// answers. Where they do not show what it takes, it fails.
func (c call) form(seen [][]piece) (map[string]any, error) {
	var at piece
	if c.At != "" {
		for i := len(seen) - 1; i >= 0 && at.attrs == nil; i-- {
			if j := slices.IndexFunc(seen[i], func(p piece) bool { return strings.Contains(p.text, spaced(c.At)) }); j >= 0 {
				at = seen[i][j]
			}
		}
		if at.attrs == nil {
			return nil, fmt.Errorf("no answer shows %q", c.At)
		}
	}
	_, arguments := c.tool()
	formed := make(map[string]any, len(arguments))
	for name, value := range arguments {
		var err error
		if formed[name], err = at.resolve(value); err != nil {
			return nil, fmt.Errorf("argument %s: %w", name, err)
		}
	}
	return formed, nil
}

// resolve returns the value of an argument: what $name stands for, also in a list.
func (p piece) resolve(value any) (any, error) {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		var err error
		for i := range v {
			one, failed := p.resolve(v[i])
			list[i], err = one, errors.Join(err, failed)
		}
		return list, err
	case string:
		name, isReference := strings.CutPrefix(v, "$")
		if !isReference {
			return v, nil
		}
		found, ok := p.attrs[name]
		if !ok {
			return nil, fmt.Errorf("there is no %s where it points", name)
		}
		if n, err := strconv.Atoi(found); err == nil {
			return n, nil
		}
		return found, nil
	}
	return value, nil
}
