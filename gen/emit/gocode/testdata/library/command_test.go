package library

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
)

// shelves is a command line that prints what it is told to, and records how it
// was called.
type shelves struct {
	stdout, stderr string
	exit           int
	err            error

	call    contract.Context
	command contract.Command
}

func (s *shelves) RunCLI(_ context.Context, call contract.Context, command contract.Command) (contract.CommandResult, error) {
	s.call, s.command = call, command
	return contract.CommandResult{Stdout: []byte(s.stdout), Stderr: []byte(s.stderr), Exit: s.exit}, s.err
}

// empty is a command line that finds nothing.
type empty struct{}

func (empty) RunCLI(context.Context, contract.Context, contract.Command) (contract.CommandResult, error) {
	return contract.CommandResult{Stdout: []byte("[]")}, nil
}

func TestCommandTool(t *testing.T) {
	t.Parallel()
	cli := &shelves{stdout: `[
		{"id": "m1", "page_count": 12, "lent_at": "2025-03-01T12:00:00+01:00", "title": "Maps & <charts>", "more": [1]},
		{"id": "m2", "page_count": null, "lent_at": null, "title": ""}
	]`}
	got, err := Call(t.Context(), nil, cli, contract.Call{
		Tool: "library_ls", Arguments: []byte(`"{\"shelf\":\"maps\",\"lent\":true}"`), Context: contract.Context{Dir: "/home", ConversationID: "c-1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`<library_ls shelf="maps" count="2" untrusted="true">`,
		`  <book id="m1" pages="12" lent_at="2025-03-01T11:00:00Z">`,
		`    <title><![CDATA[Maps & <charts>]]></title>`,
		`  </book>`,
		`  <book id="m2"/>`,
		`  <note>The arguments came as a string and were read as the JSON object inside it.</note>`,
		`</library_ls>`,
	}, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if cli.call.Dir != "/home" {
		t.Errorf("ran from %+v", cli.call)
	}
	command := contract.Command{
		CLI: "shelves", Args: []string{"ls", "--json", "--lent", "--", "maps"}, Stdin: []byte("shelf: maps"),
		Env: []string{"LENT=true", "PAGER=", "READER=c-1"}, Dir: "halls/north", Timeout: 20 * time.Second,
	}
	if diff := cmp.Diff(command, cli.command); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
}

func TestCommandOutput(t *testing.T) {
	t.Parallel()
	one := `{"id":"m1"}`
	for _, tc := range []struct {
		name, stdout string
		count        int
		err          string
	}{
		{"array", "[" + one + "]\n", 1, ""},
		{"nothing found", "[]", 0, ""},
		{"document", `{"format":"shelves","version":1,"data":[` + one + `,` + one + `]}`, 2, ""},
		{"empty document", `{"data":[]}`, 0, ""},
		{"nothing", "", 0, "it printed nothing"},
		{"blank", " \n", 0, "it printed nothing"},
		{"half an array", "[" + one + ",", 0, "the JSON text ends too early"},
		{"half a record", `[{"id":"m`, 0, "the JSON text ends too early"},
		{"half a document", `{"data":[` + one, 0, "the JSON text ends too early"},
		{"two arrays", "[] []", 0, "there is more text after the JSON value"},
		{"a message behind", "[]\nDone.", 0, "there is more text after the JSON value"},
		{"a message before", "Searching…\n[]", 0, "invalid character 'S'"},
		{"document without data", `{"records":[]}`, 0, `an object without an array named "data"`},
		{"document with other data", `{"data":{}}`, 0, `an object without an array named "data"`},
		{"a word", `"none"`, 0, "a single value and no array"},
		{"null", `null`, 0, "a single value and no array"},
		{"records of another type", `["m1"]`, 0, "a record is a JSON string"},
		{"field of another type", `[{"id":"m1","page_count":"twelve"}]`, 0, `"page_count" is a JSON string where an integer is expected`},
		{"fraction", `[{"id":"m1","page_count":1.5}]`, 0, `"page_count" is a JSON number 1.5 where an integer is expected`},
		{"no time", `[{"id":"m1","lent_at":"yesterday"}]`, 0, "yesterday"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := Call(t.Context(), nil, &shelves{stdout: tc.stdout}, contract.Call{Tool: "library_ls", Arguments: []byte(`{"shelf":"maps"}`)})
			if tc.err == "" {
				if err != nil || !strings.Contains(got, fmt.Sprintf("count=%q", fmt.Sprint(tc.count))) {
					t.Errorf("answer %s, error %v, want %d records", got, err, tc.count)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(err.Error(), `"shelves" that library_ls runs`) {
				t.Errorf("answer %s, error %v, want one with %q", got, err, tc.err)
			}
		})
	}
}

func TestCommandFails(t *testing.T) {
	t.Parallel()
	run := func(cli contract.CLI) error {
		_, err := Call(t.Context(), nil, cli, contract.Call{Tool: "library_ls", Arguments: []byte(`{"shelf":"maps"}`)})
		return err
	}
	cause := errors.New("no such program")
	if err := run(&shelves{err: cause}); !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause", err)
	}
	err := run(&shelves{stdout: "[]", stderr: "no shelf \x1b[31mmaps\x1b[0m\u202e", exit: 1})
	want := "The command line \"shelves\" that library_ls runs ended with exit code 1 and said:\nno shelf ␛[31mmaps␛[0m\\u{202E}"
	if err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	err = run(&shelves{exit: 5})
	var failure *contract.Error
	if !errors.As(err, &failure) || !failure.Transient || !strings.HasPrefix(failure.Message, "The library is closed. Come back later. The command line ") {
		t.Errorf("error %v", err)
	}
	if err := run(&shelves{exit: 2, stdout: "no books"}); err != nil {
		t.Errorf("an exit code of nothing: %v", err)
	}
	err = run(&shelves{exit: 3})
	if err == nil || !strings.Contains(err.Error(), "ended with exit code 3 and said nothing about why") {
		t.Errorf("error %v", err)
	}
	err = run(&shelves{stderr: "begin " + strings.Repeat("é", 100_000) + " end", exit: 1})
	if err == nil || utf8.RuneCountInString(err.Error()) > 2300 || !strings.Contains(err.Error(), "begin") || !strings.HasSuffix(err.Error(), "end") || !strings.Contains(err.Error(), "characters omitted") {
		t.Errorf("error %.200v", err)
	}
	var invalid *contract.InvalidArguments
	cli := &shelves{}
	if _, err := Call(t.Context(), nil, cli, contract.Call{Tool: "library_ls", Arguments: []byte(`{"shelf":"Maps 1"}`)}); !errors.As(err, &invalid) || cli.command.CLI != "" {
		t.Errorf("bad arguments: error %v, ran %v", err, cli.command)
	}
}

// TestCommandKeepsToItsLimit tries every number of records around the number
// that fits.
func TestCommandKeepsToItsLimit(t *testing.T) {
	t.Parallel()
	shortened := 0
	for n := range 40 {
		records := make([]string, n)
		for i := range records {
			records[i] = fmt.Sprintf(`{"id":"m%d","page_count":%d}`, i, i+1)
		}
		cli := &shelves{stdout: "[" + strings.Join(records, ",") + "]"}
		notes := []string{"earlier", "of the caller"}
		call := contract.Call{Tool: "library_ls", Arguments: []byte(`{"shelf":"maps"}`), Notes: notes[:1]}
		got, err := Call(t.Context(), nil, cli, call)
		if err != nil {
			t.Fatal(err)
		}
		if notes[1] != "of the caller" {
			t.Fatalf("the caller's memory is written to: %q", notes)
		}
		if chars := utf8.RuneCountInString(got); chars > LsMaxChars {
			t.Fatalf("%d characters for %d records, over the limit of %d", chars, n, LsMaxChars)
		}
		shown := strings.Count(got, "<book ")
		if !strings.Contains(got, fmt.Sprintf("count=%q", fmt.Sprint(shown))) || !strings.Contains(got, "<note>earlier</note>") {
			t.Fatalf("answer for %d records:\n%s", n, got)
		}
		note := fmt.Sprintf("<note>Showing %d of %d records", shown, n)
		if strings.Contains(got, note) != (shown < n) {
			t.Fatalf("answer for %d records:\n%s", n, got)
		}
		if shown < n {
			shortened++
			if !strings.Contains(got, `id="m0"`) || shown < 5 {
				t.Fatalf("records are left out from the wrong end, or too many:\n%s", got)
			}
		}
	}
	if shortened == 0 {
		t.Error("nothing was ever left out")
	}
	cli := &shelves{stdout: "[]"}
	call := contract.Call{Tool: "library_ls", Arguments: []byte(`{"shelf":"` + strings.Repeat("m", 700) + `"}`)}
	if _, err := Call(t.Context(), nil, cli, call); err == nil || !strings.Contains(err.Error(), "does not fit into its limit of 600 characters") {
		t.Errorf("error %v", err)
	}
}
