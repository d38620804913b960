package command

import (
	"context"
	"errors"
	"testing"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/process/processtest"
	"github.com/convtools/convtools/runtime/transcript"
)

// TestJP has a jp stand in for the program: what it prints today, as recorded, is
// known for what it lacks, and one that speaks the contract is used.
func TestJP(t *testing.T) {
	t.Parallel()
	const unknownFlag = "error: unexpected argument '--summary' found\n"
	ask := map[string]func(conversations.Source) error{
		"list": func(s conversations.Source) error {
			_, err := s.List(context.Background(), conversations.ListQuery{})
			return err
		},
		"search": func(s conversations.Source) error {
			_, err := s.Search(context.Background(), conversations.SearchQuery{Pattern: "x"})
			return err
		},
		"read": func(s conversations.Source) error {
			_, err := s.Read(context.Background(), conversations.ReadQuery{
				ID: "jp-c17800836875", Event: func(e *conversations.Event) error {
					if e.Kind != transcript.KindUser {
						return errors.New("another event")
					}
					return nil
				},
			})
			return err
		},
	}
	tests := []struct {
		name, program, ask, stdout, stderr string
		exit                               int
		want                               conversations.ContractPart
	}{
		{"flags of ls", "jp", "list", "", unknownFlag, 2, conversations.ContractPart{Command: "ls", Flags: true}},
		{"flags of grep", "/usr/bin/jp", "search", "", unknownFlag, 2, conversations.ContractPart{Command: "grep", Flags: true}},
		{"flags of print", `'C:\bin\jp.exe'`, "read", "", unknownFlag, 2, conversations.ContractPart{Command: "print", Flags: true}},
		{"keys of ls", "jp", "list", `[{"ID":"jp-c17800836875","#":"93","Activity ↑":"2026-05-29 20:05:32","Title":"A"}]`, "", 0, conversations.ContractPart{Command: "ls"}},
		{"stub of ls", "jp", "list", `[{"ID":"(12 hidden)"}]`, "", 0, conversations.ContractPart{Command: "ls"}},
		{"prose of print", "jp", "read", "{\"message\":\"── user ──\"}\n{\"message\":\"Hello\"}\n", "", 0, conversations.ContractPart{Command: "print"}},
		{"another failure", "jp", "list", "", "Could not locate workspace", 1, conversations.ContractPart{}},
		{"another program", "jp-conversations", "list", "", unknownFlag, 2, conversations.ContractPart{}},
	}
	for _, test := range tests {
		fake := processtest.New(t)
		words, err := process.SplitCommand(test.program)
		if err != nil {
			t.Fatal(err)
		}
		fake.Expect(words[0], test.ask).Do(func(context.Context, process.Command) (process.Result, error) {
			return process.Result{Stdout: []byte(test.stdout), Stderr: []byte(test.stderr), ExitCode: test.exit}, nil
		})
		var unavailable *conversations.UnavailableError
		err = ask[test.ask](asking(test.program, fake))
		if !errors.As(err, &unavailable) || unavailable.Lacks != test.want {
			t.Errorf("%s: %v: %+v, want %+v", test.name, err, unavailable, test.want)
		}
	}
	for what, stdout := range map[string]string{
		"list":   `[{"id":"jp-c17800836875","title":"A","events_count":93}]`,
		"search": `[{"id":"jp-c17800836875","turn":1,"scope":"user","timestamp":"2026-05-29T19:42:36.467321Z","title":"A","text":"x","match":true,"submatches":[]}]`,
		"read":   `[{"type":"chat_request","turn":1,"timestamp":"2026-05-29T19:42:36.467321Z","content":"x"}]`,
	} {
		fake := processtest.New(t)
		fake.Expect("jp", what).ReturnStdout(stdout)
		if err := ask[what](asking("jp", fake)); err != nil {
			t.Errorf("a jp that speaks the contract: %s: %v", what, err)
		}
	}
}

// asking is a program that is called with the name of the query alone.
func asking(line string, runner process.Runner) conversations.Source {
	call := func(name string) Call {
		return Call{Args: []string{name}, OK: func(exit int) bool { return exit == 0 }}
	}
	return New(Config{
		Line: line, Setting: "X", Runner: runner,
		List:   func(conversations.ListQuery) (Call, error) { return call("list"), nil },
		Search: func(conversations.SearchQuery) (Call, error) { return call("search"), nil },
		Read:   func(conversations.ReadQuery) (Call, error) { return call("read"), nil },
	}).In("")
}
