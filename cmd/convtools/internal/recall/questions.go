package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/cmd/convtools/internal/mcpclient"
	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

//go:embed questions
var questionFiles embed.FS

// questionSet is the questions about one workspace.
type questionSet struct {
	Name      string     // of the file
	Workspace string     // its directory, relative to the root of the repository
	Data      string     // instead: its directory, relative to that of -data
	Questions []question `toml:"question"`
}

// question is a question about earlier conversations.
type question struct {
	Asked string
	Kind  string
	// Answers have to be in view, all of them. If Answers is empty, a search that finds nothing is the answer.
	Answers []sentence
	Calls   []call

	calls, chars int    // until the answer was in view
	transcript   string // of the calls until then
	failure      error  // why the answer was never in view, or nil
}

// sentence is a text that answers a question.
type sentence struct {
	In   string // conversation
	Says string // in one line of one event
}

// call is a call of one of three tools, with the arguments of the one that is not nil. An argument $name stands for the
// attribute of that name. The attribute is one of the element that has the text At, or of an element around it.
type call struct {
	At   string // a text in an earlier answer; "" if no argument refers to one
	List map[string]any
	Grep map[string]any
	Read map[string]any
}

// tool returns the name and the arguments of the call.
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

// serve starts the MCP server of convtools in a project.
func serve(ctx context.Context, convtools, project, home string) (*mcpclient.Session, error) {
	server := exec.Command(convtools, "mcp", "--workspace", project) //nolint:forbidigo,gosec // the program that it built itself
	server.Env = repository.Environ(home)
	return mcpclient.Start(ctx, server)
}

// ask asks all questions of a set, in one session with a server.
func (s *questionSet) ask(ctx context.Context, convtools, workspace, home string) (err error) {
	server, err := serve(ctx, convtools, workspace, home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	for i := range s.Questions {
		if err := s.Questions[i].ask(ctx, server); err != nil {
			return fmt.Errorf("%q: %w", s.Questions[i].Asked, err)
		}
	}
	return nil
}

// ask makes the calls of a question, in order, until its answers are in view. If they never are, it sets the failure of
// the question. It returns an error only if a call cannot be made.
func (q *question) ask(ctx context.Context, server *mcpclient.Session) error {
	var seen [][]piece // the pieces of each answer so far
	missing := slices.Clone(q.Answers)
	for _, c := range q.Calls {
		arguments, err := c.resolve(seen)
		if err != nil {
			q.failure = err
			return nil
		}
		tool, _ := c.tool()
		answer, err1 := server.CallText(ctx, tool, arguments)
		encoded, err2 := json.Marshal(arguments)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		q.transcript += fmt.Sprintf("\n> %s %s\n%s\n", tool, encoded, answer)
		q.calls++
		q.chars += utf8.RuneCountInString(answer)
		shown := pieces(answer)
		seen = append(seen, shown)
		missing = slices.DeleteFunc(missing, func(s sentence) bool { return shows(shown, s) })
		isAnswered := len(missing) == 0
		if len(q.Answers) == 0 { // a search that finds nothing is the answer
			isAnswered = showsNothing(shown)
		}
		if isAnswered {
			return nil
		}
	}
	if len(missing) > 0 {
		q.failure = fmt.Errorf("%q of %s was never in view", missing[0].Says, missing[0].In)
	} else {
		q.failure = errors.New("no answer shows that there is nothing")
	}
	return nil
}

// latest returns the piece that has a text. If several have the text, it returns the
// first one of the latest answer. The second result is false if no piece has the text.
func latest(answers [][]piece, text string) (piece, bool) {
	for _, answer := range slices.Backward(answers) {
		i := slices.IndexFunc(answer, func(p piece) bool { return strings.Contains(p.text, joinWords(text)) })
		if i >= 0 {
			return answer[i], true
		}
	}
	return piece{}, false
}

// resolve returns the arguments of a call with attributes of an earlier answer in
// place of $name. This answer is the latest that has the text At.
func (c call) resolve(seen [][]piece) (map[string]any, error) {
	var referred piece
	if c.At != "" {
		var isShown bool
		if referred, isShown = latest(seen, c.At); !isShown {
			return nil, fmt.Errorf("no answer shows %q", c.At)
		}
	}
	_, arguments := c.tool()
	resolved := make(map[string]any, len(arguments))
	for name, value := range arguments {
		var err error
		if resolved[name], err = referred.resolve(value); err != nil {
			return nil, fmt.Errorf("argument %s: %w", name, err)
		}
	}
	return resolved, nil
}

// resolve returns the value of an argument of a call. For $name it returns the attribute name of p, as an integer if it
// is one. For a list it returns the list with each item resolved. Any other value is returned unchanged.
func (p piece) resolve(value any) (any, error) {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		var errs []error
		for i := range v {
			var err error
			list[i], err = p.resolve(v[i])
			errs = append(errs, err)
		}
		return list, errors.Join(errs...)
	case string:
		name, isReference := strings.CutPrefix(v, "$")
		if !isReference {
			return v, nil
		}
		attr, ok := p.attrs[name]
		if !ok {
			return nil, fmt.Errorf("there is no %s in the answer", name)
		}
		if n, err := strconv.Atoi(attr); err == nil {
			return n, nil
		}
		return attr, nil
	}
	return value, nil
}
