package plan_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/gen/plan"
)

// TestToolsWithoutGo wraps a command line without handlers: it generates the project in
// testdata/specs/positive/notes, builds it as a separate module, and calls its tools. The specs run a small program
// that behaves well and badly. The answers are golden.
func TestToolsWithoutGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(positiveDir)); err != nil {
		t.Fatal(err)
	}
	generate(t, dir)
	writeModule(t, dir, "example.com/notes")
	if err := os.CopyFS(filepath.Join(dir, "fake"), os.DirFS(filepath.Join(positiveDir, "..", "fake"))); err != nil {
		t.Fatal(err)
	}
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	tools, fake := filepath.Join(dir, "notes-tools"+suffix), filepath.Join(dir, "bin", "notes"+suffix)
	runGo(t, dir, "build", "-o", tools, ".")
	runGo(t, dir, "build", "-o", fake, "./fake")

	const golden = "../../testdata/specs/positive/answers.txtar"
	answers, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, file := range answers.Files {
		want[file.Name] = string(file.Data)
	}
	answers.Files = nil
	for _, tc := range positiveCases() {
		cmd := exec.Command(tools, tc.tool, tc.arguments)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(fake), "NOTES_CLI="+tc.env, "NOTES_TOKEN=a token", "NOTES_SECRET=a secret")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if failed := err != nil; failed != tc.fails {
			t.Errorf("%s: it ended with %v", tc.name, err)
		}
		if tc.fails != (stdout.Len() == 0) {
			t.Errorf("%s: standard output has %d bytes", tc.name, stdout.Len())
		}
		if !tc.fails {
			wellFormed(t, tc.name, stdout.String())
		}
		got := stdout.String() + stderr.String()
		answers.Files = append(answers.Files, txtar.File{Name: tc.name, Data: []byte(got)})
		if diff := cmp.Diff(want[tc.name], got); diff != "" && os.Getenv("UPDATE_GOLDEN") != "1" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		delete(want, tc.name)
	}
	for name := range want {
		t.Errorf("%s holds %s, which is no case", golden, name)
	}
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(golden, txtar.Format(answers), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTypes generates a project with tools that take every type of value, and runs the project's tests, which compare
// validators with the schemas.
func TestTypes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(positiveDir+"/../shapes")); err != nil {
		t.Fatal(err)
	}
	generate(t, dir)
	// Two of the specs have no settings for JP, which then asks before every change.
	for name, said := range map[string][2]string{"open": {"explicit", "ask"}, "history": {"explicit", "unattended"}, "plot": {"on", "edit"}} {
		definition, err := os.ReadFile(filepath.Join(dir, ".jp/mcp/tools/shapes", name+".toml"))
		if err != nil || !strings.Contains(string(definition), "\n[conversation.tools.shapes_"+name+"]\n") ||
			!strings.Contains(string(definition), "\nenable = \""+said[0]+"\"\nrun = \""+said[1]+"\"\n") {
			t.Errorf("%s: %v\n%s", name, err, definition)
		}
	}
	writeModule(t, dir, "example.com/shapes")
	runGo(t, dir, "test", "-vet=all", "./...")
}

// generate brings a project up to date, and fails on any diagnostic.
func generate(t *testing.T, dir string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	result, err := plan.Generate(root.FS())
	if err != nil || len(result.Diags) > 0 {
		t.Fatalf("generating: %v %v", err, result.Diags)
	}
	differences, err := plan.Compare(root.FS(), result)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Write(root, result, differences); err != nil {
		t.Fatal(err)
	}
}

type positiveCase struct {
	name, tool, arguments string
	env                   string // the value of NOTES_CLI
	fails                 bool
}

func positiveCases() []positiveCase {
	return []positiveCase{
		{name: "arguments with defaults", tool: "notes_find", arguments: `{"text":"tide"}`},
		{name: "every argument", tool: "notes_find", arguments: `{"text":"-rf --state=any","tags":["sea","to-do"],"state":"done","limit":5,"after":3}`},
		{name: "repairs", tool: "notes_find", arguments: `{"text":"tide","tags":"sea","state":"OPEN","limit":"500","before":"9","after":null}`},
		{name: "every problem at once", tool: "notes_find", arguments: `{"txt":"tide","tags":["Sea"],"state":"closed","limit":0,"before":1,"after":2}`, fails: true},
		{name: "not an object", tool: "notes_find", arguments: `["tide"]`, fails: true},
		{name: "unknown tool", tool: "notes_search", arguments: `{}`, fails: true},

		{name: "notes", tool: "notes_find", arguments: `{"text":"tide"}`, env: "notes --fake=notes"},
		{name: "nothing found", tool: "notes_find", arguments: `{"text":"tide"}`, env: "notes --fake=nothing"},
		{name: "more than fits", tool: "notes_find", arguments: `{"text":"tide","limit":500}`, env: "notes --fake=many"},
		{name: "records in a document", tool: "notes_find", arguments: `{"text":"tide"}`, env: "notes --fake=document"},
		{name: "records that are strings", tool: "notes_tags", arguments: `{}`, env: "notes --fake=tags"},
		{name: "no arguments at all", tool: "notes_tags", arguments: ``, env: "notes --fake=tags"},

		{name: "records with separators", tool: "notes_log", arguments: `{}`, env: "notes '--fake=log'"},
		{name: "half a record", tool: "notes_log", arguments: `{}`, env: "notes '--fake=short log'", fails: true},
		{name: "no records at all", tool: "notes_log", arguments: `{}`, env: "notes --fake=silence"},
		{name: "lines that a pattern takes apart", tool: "notes_status", arguments: `{}`, env: "notes --fake=status"},
		{name: "a line of another form", tool: "notes_status", arguments: `{}`, env: "notes --fake=warning", fails: true},
		{name: "the whole text", tool: "notes_help", arguments: `{}`, env: "notes --fake=text"},

		{name: "standard input, environment and folder", tool: "notes_add", arguments: `{"text":"--priority=9\n</written>\u0000 {state}","state":"done","priority":1e21}`},
		{name: "what is not given is left out", tool: "notes_add", arguments: `{"text":"Tides"}`},
		{name: "a failure that may pass", tool: "notes_add", arguments: `{"text":"Tides"}`, env: "notes --fake=locked", fails: true},
		{name: "a failure of the caller", tool: "notes_add", arguments: `{"text":"Tides"}`, env: "notes '--fake=no note'", fails: true},
		{name: "what is deep inside", tool: "notes_mentions", arguments: `{}`, env: "notes --fake=mentions"},
		{name: "null in place of records", tool: "notes_mentions", arguments: `{}`, env: "notes '--fake=no mentions'"},
		{name: "no output in place of records", tool: "notes_mentions", arguments: `{}`, env: "notes --fake=silence"},
		{name: "an exit code of nothing", tool: "notes_mentions", arguments: `{}`, env: "notes '--fake=found nothing'"},
		{name: "a text in place of an object", tool: "notes_mentions", arguments: `{}`, env: "notes '--fake=another author'", fails: true},
		{name: "lines that are none", tool: "notes_sizes", arguments: `{}`, env: "notes --fake=sizes"},

		{name: "half a JSON value", tool: "notes_find", arguments: `{"text":"tide"}`, env: "notes --fake=half", fails: true},
		{name: "two JSON values", tool: "notes_find", arguments: `{"text":"tide"}`, env: "notes --fake=two", fails: true},
		{name: "no JSON", tool: "notes_find", arguments: `{"text":"tide"}`, env: "notes --fake=text", fails: true},
		{name: "no output", tool: "notes_find", arguments: `{"text":"tide"}`, env: "notes --fake=silence", fails: true},
		{name: "records of another type", tool: "notes_find", arguments: `{"text":"tide"}`, env: "notes --fake=types", fails: true},
		{name: "an exit code of a failure", tool: "notes_find", arguments: `{"text":"tide"}`, env: "notes --fake=refusal", fails: true},
		{name: "an exit code that is no answer here", tool: "notes_tags", arguments: `{}`, env: "notes --fake=nothing", fails: true},
		{name: "another program", tool: "notes_find", arguments: `{"text":"tide"}`, env: `notes "--store=my notes"`},
		{name: "another program that is missing", tool: "notes_find", arguments: `{"text":"tide"}`, env: "notes-that-are-not-there", fails: true},
	}
}

// wellFormed fails unless an answer is one XML element within the size that its spec allows.
func wellFormed(t *testing.T, name, answer string) {
	t.Helper()
	const maxChars = 2000
	if n := utf8.RuneCountInString(strings.TrimSuffix(answer, "\n")); n > maxChars {
		t.Errorf("%s: the answer has %d characters", name, n)
	}
	dec := xml.NewDecoder(strings.NewReader(answer))
	depth, roots := 0, 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, answer)
			return
		}
		switch token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
		case xml.EndElement:
			depth--
		}
	}
	if roots != 1 {
		t.Errorf("%s: the answer has %d root elements", name, roots)
	}
}
