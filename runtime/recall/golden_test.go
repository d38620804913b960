package recall_test

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	differ "github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/store/command"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// cli is a conversation command line: what its ls and its print print, and how it fails. Where
// ls is empty, it lists the conversation that print prints.
type cli struct {
	ls, archived, print string
	stderr              string
	exit                int
	err                 error

	called atomic.Bool
}

func (c *cli) Run(_ context.Context, cmd process.Command) (process.Result, error) {
	c.called.Store(true)
	if c.err != nil {
		return process.Result{}, c.err
	}
	stdout := c.ls
	switch {
	case slices.Contains(cmd.Args, "--archived"):
		stdout = cmp.Or(c.archived, "[]")
	case slices.Contains(cmd.Args, "print"):
		stdout = cmp.Or(c.print, printed(said("user", 1, "Why?"), said("assistant", 1, "Because.")))
	case stdout == "" && c.print != "":
		stdout = listed(row(readID, "Flexible LLM provider design", ""))
	}
	return process.Result{Stdout: []byte(stdout), Stderr: []byte(c.stderr), ExitCode: c.exit}, nil
}

// over returns the tools over a command line.
func over(runner process.Runner) *recall.Tools { return overChosen(runner, "") }

// overChosen returns the tools over a command line that the environment variable
// setting names.
func overChosen(runner process.Runner, setting string) *recall.Tools {
	return overSource(conversationsOf("cli", setting, runner, ""))
}

// conversationsOf returns the conversations that a command line finds in a directory.
func conversationsOf(line, setting string, runner process.Runner, dir string) *conversations.Library {
	store := command.New(command.Options{Line: line, Setting: setting, Dir: dir, Runner: runner, ParseID: conversations.ParseID, SourceOf: conversations.SourceOf})
	return conversations.New(conversations.Options{Once: true}, store)
}

// source is a typed source that expects one call and answers it as told.
type source struct {
	listing conversations.Listing
	reading conversations.Reading
	events  []conversations.Event
	err     error

	called bool
}

func (s *source) List(_ context.Context, q conversations.ListQuery) (conversations.Listing, error) {
	s.called = true
	if q.Archived {
		return conversations.Listing{}, nil
	}
	return s.listing, s.err
}

func (s *source) Search(context.Context, conversations.SearchQuery) (*conversations.Results, error) {
	s.called = true
	return &conversations.Results{}, s.err
}

func (s *source) Read(context.Context, conversations.ReadQuery) (conversations.Reading, iter.Seq[*conversations.Event], error) {
	s.called = true
	return s.reading, func(yield func(*conversations.Event) bool) {
		for i := 0; i < len(s.events) && yield(&s.events[i]); i++ {
		}
	}, s.err
}

// overSource returns the tools over a source.
func overSource(s conversations.Source) *recall.Tools {
	return recall.New(func(string) (conversations.Source, error) { return s, nil })
}

// golden is one call of a tool and the file with its answer or error.
type golden struct {
	file    string
	call    string // JSON arguments
	current string // the conversation the call is made from
	cli     *cli
	source  conversations.Source // in place of a command line
	// workspace is written to be searched, in place of either.
	workspace func(*jptest.Workspace)
	notRun    bool // nobody must be asked
}

// TestGolden compares whole answers. What a file shows has been read, and is
// what a model gets to see.
func TestGolden(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for tool, cases := range map[string][]golden{
		"conversation_list": append(listCases(), outlineCases()...),
		"conversation_grep": grepCases(),
		"conversation_read": readCases(),
	} {
		for _, tc := range cases {
			file := strings.TrimPrefix(tool, "conversation_") + "_" + tc.file + ".golden"
			if seen[file] {
				t.Fatalf("two cases share %s", file)
			}
			seen[file] = true
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				if tc.cli == nil {
					tc.cli = &cli{}
				}
				tools := over(tc.cli)
				if tc.source != nil {
					tools = overSource(tc.source)
				}
				if tc.workspace != nil {
					tools = overSource(workspaceOf(t, tc.workspace))
				}
				answer, err := conversation.Call(t.Context(), tools, contract.Call{
					Tool: tool, Arguments: []byte(tc.call), Context: contract.Context{ConversationID: tc.current},
				})
				fake, _ := tc.source.(*source)
				if called := tc.workspace != nil || tc.cli.called.Load() || tc.source != nil && (fake == nil || fake.called); called == tc.notRun {
					t.Errorf("somebody was asked: %v, want %v", called, !tc.notRun)
				}
				if err == nil {
					check(t, tool, answer)
				}
				compare(t, file, readable(answer, err))
			})
		}
	}
	t.Cleanup(func() {
		files, err := filepath.Glob("testdata/golden/*.golden")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !seen[filepath.Base(f)] {
				t.Errorf("%s belongs to no case", f)
			}
		}
	})
}

// run of filler that goldens show by its length.
var filler = regexp.MustCompile(`x{80,}|y{80,}|z{80,}|é{80,}`)

// readable is an answer or error as a golden file holds it.
func readable(answer string, err error) string {
	if err != nil {
		answer = "error: " + err.Error()
		var e *contract.Error
		if errors.As(err, &e) {
			answer += fmt.Sprintf("\n(caller can fix it: %v, transient: %v)", e.Caller, e.Transient)
		}
	}
	answer = filler.ReplaceAllStringFunc(answer, func(run string) string {
		r := []rune(run)
		return fmt.Sprintf("%s{%d times}", string(r[:1]), len(r))
	})
	return answer + "\n"
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", file)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update, and read what it writes)", err)
	}
	if diff := differ.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// answerElement is any element of an answer, as a reader of XML sees it.
type answerElement struct {
	XMLName  xml.Name
	Attrs    []xml.Attr      `xml:",any,attr"`
	Text     string          `xml:",chardata"`
	Children []answerElement `xml:",any"`
}

func (e *answerElement) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e *answerElement) all(name string) []answerElement {
	var found []answerElement
	for _, c := range e.Children {
		if c.XMLName.Local == name {
			found = append(found, c)
		}
	}
	return found
}

// check parses an answer and returns its root: one element, untrusted, within
// the cap of its tool.
func check(t *testing.T, tool, answer string) *answerElement {
	t.Helper()
	limits := map[string]int{
		"conversation_list": conversation.ListMaxChars,
		"conversation_grep": conversation.GrepMaxChars,
		"conversation_read": conversation.ReadMaxChars,
	}
	if n := len([]rune(answer)); n > limits[tool] {
		t.Errorf("%s: %d characters, over the cap of %d", tool, n, limits[tool])
	}
	dec := xml.NewDecoder(strings.NewReader(answer))
	var root answerElement
	if err := dec.Decode(&root); err != nil {
		t.Fatalf("%s: not well-formed: %v\n%.2000s", tool, err, answer)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		t.Errorf("%s: something stands behind the root element: %v", tool, err)
	}
	if root.XMLName.Local != tool || root.attr("untrusted") != "true" {
		t.Errorf("%s: root element %s, untrusted=%q", tool, root.XMLName.Local, root.attr("untrusted"))
	}
	return &root
}

// text is a string as JSON, in which markup stands as it is.
func text(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// joined puts the members of JSON objects into one, without a look at them.
func joined(objects ...string) string {
	for i, o := range objects {
		objects[i] = strings.TrimSuffix(strings.TrimPrefix(o, "{"), "}")
	}
	return "{" + strings.Join(objects, ",") + "}"
}

// object merges JSON objects; the last value of a member counts.
func object(objects ...string) string {
	merged := strings.Builder{}
	var names []string
	values := map[string]json.RawMessage{}
	for _, o := range objects {
		dec := json.NewDecoder(strings.NewReader(o))
		must(dec.Token())
		for dec.More() {
			name := must(dec.Token()).(string)
			if _, again := values[name]; !again {
				names = append(names, name)
			}
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				panic(err)
			}
			values[name] = value
		}
	}
	for i, name := range names {
		merged.WriteString([]string{"{", ","}[min(i, 1)] + text(name) + ":")
		merged.Write(values[name])
	}
	return merged.String() + "}"
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
