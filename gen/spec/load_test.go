package spec_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/diagprint"
	"github.com/convtools/convtools/gen/spec"
)

const projectTOML = `module = "example.com/notes"
specs  = ["specs/**/*.toml"]
[targets.go]
dir = "generated"
[targets.jp]
tools   = ".jp/mcp/tools"
command = "run {{context}} {{tool}}"
`

const toolTOML = `name = "a"
summary = "A tool"
description = "A tool."
effect = "read"
[envelope]
root = "a"
[[envelope.elements]]
name = "a"
`

// load returns the project and its diagnostics, one line each.
func load(files fstest.MapFS) (*spec.Project, []string) {
	project, diags := spec.Load(files)
	var lines []string
	for _, d := range diags.Sorted() {
		lines = append(lines, d.String())
	}
	return project, lines
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file *fstest.MapFile
		want string
	}{
		"too long":          {text("# " + strings.Repeat("x", 300<<10)), "specs/x/a.toml: error: the file has 307202 bytes; 262144 are allowed [SP006]"},
		"a pipe":            {&fstest.MapFile{Mode: fs.ModeNamedPipe | 0o644}, "specs/x/a.toml: error: this is not a file [SP006]"},
		"not UTF-8":         {text("name = \"\xff\"\n"), "specs/x/a.toml: error: the file is not valid UTF-8 [SP001]"},
		"UTF-16":            {text("\xff\xfen\x00"), "specs/x/a.toml: error: the file is not valid UTF-8 [SP001]"},
		"a NUL":             {text("name = \"\x00\"\n"), "specs/x/a.toml:1:8: error: TOML files cannot contain control characters: '0x00' [SP001]"},
		"nested arrays":     {text("a = " + strings.Repeat("[", 50_000)), "specs/x/a.toml:1:105: error: more than 100 brackets are open here [SP001]"},
		"nested tables":     {text("a = " + strings.Repeat("{a=", 50_000)), "specs/x/a.toml:1:305: error: more than 100 brackets are open here [SP001]"},
		"a long line":       {text("x = 1\n# " + strings.Repeat("x", 40_000)), "specs/x/a.toml:2:1: error: the line has more than 32768 bytes [SP001]"},
		"dotted":            {text(strings.Repeat("a.", 50_000) + "a = 1"), "specs/x/a.toml:1:2002: error: this line has more than 1000 dots [SP001]"},
		"key twice":         {text("name = 'a'\nname = 'b'\n"), "specs/x/a.toml:2:1: error: Key 'name' has already been defined [SP001]"},
		"integer too large": {text("name = 99999999999999999999\n"), "specs/x/a.toml:1:8: error: 99999999999999999999 is out of range for int64 [SP001]"},
		"a tab before it":   {text("\tname = \"\\q\"\n"), "specs/x/a.toml:1:10: error: invalid escape in string '\\q' [SP001]"},
		"wide characters":   {text("name = '時差' x\n"), "specs/x/a.toml:1:12: error: expected a top-level item to end with a newline, comment, or EOF, but got 'x' instead [SP001]"},
		"a byte order mark": {text("\ufeffname = x\n"), "specs/x/a.toml:1:8: error: expected value but found \"x\" instead [SP001]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got := load(fstest.MapFS{"tools.toml": text(projectTOML), "specs/x/a.toml": tc.file})
			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

// A file that cannot be read does not hide diagnostics of the others.
func TestEveryFileIsRead(t *testing.T) {
	t.Parallel()
	project, got := load(fstest.MapFS{
		"tools.toml":       text(projectTOML + "more = 1\n"),
		"specs/x/a.toml":   text("name = "),
		"specs/x/b.toml":   text(strings.Replace(toolTOML, "effect", "effects", 1)),
		"specs/x/c.toml":   text(toolTOML),
		"specs/deep/d/e/f": text("not a spec"),
	})
	want := []string{
		`specs/x/a.toml:1:7: error: unexpected EOF; expected value [SP001]`,
		`specs/x/b.toml:4:1: error: unknown key "effects" in a tool [SP002]`,
		`tools.toml:8:1: error: unknown key "more" in targets.jp [SP002]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	var broken []string
	for _, file := range project.Sources {
		if file.Unread || !(spec.Place{File: file}).Sound() {
			broken = append(broken, file.Name)
		}
	}
	if diff := cmp.Diff([]string{"tools.toml", "specs/x/a.toml", "specs/x/b.toml"}, broken); diff != "" {
		t.Errorf("broken files (-want +got):\n%s", diff)
	}
	if len(project.Tools) != 2 {
		t.Errorf("%d tools are loaded", len(project.Tools))
	}
}

// A bad item makes the whole array unset: otherwise later items would be reported at the wrong place.
func TestArraysOfTheWrongType(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`[1, "a", true]`:     `repairs[0] must be a string, not an integer; repairs[2] must be a string, not a boolean`,
		`"from_string"`:      `repairs must be an array, not a string`,
		`[{a = 1}]`:          `repairs[0] must be a string, not a table`,
		`[["from_string"]]`:  `repairs[0] must be a string, not an array`,
		`[1.5, 07:00:00]`:    `repairs[0] must be a string, not a float; repairs[1] must be a string, not a date`,
		`{ from = "string"}`: `repairs must be an array, not a table`,
	} {
		project, diags := spec.Load(fstest.MapFS{
			"tools.toml":     text(projectTOML),
			"specs/x/a.toml": text(toolTOML + "[parameters.p]\ntype = \"string\"\nsummary = \"P\"\nrepairs = " + value + "\n"),
		})
		var got []string
		for _, d := range diags.Sorted() {
			got = append(got, d.Message)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, not %q", value, strings.Join(got, "; "), want)
		}
		if p := project.Tools[0].Params[0]; p.Repairs.Set || p.Repairs.Value != nil {
			t.Errorf("%s: the repairs are %v", value, p.Repairs.Value)
		}
	}
}

func TestParametersAreInTheOrderOfTheDocument(t *testing.T) {
	t.Parallel()
	project, got := load(fstest.MapFS{
		"tools.toml": text(projectTOML),
		"specs/x/a.toml": text(toolTOML + `[parameters]
z = { type = "string", summary = "Z" }
a = { type = "string", summary = "A" }
m.type = "string"
m.summary = "M"
[parameters.b]
type = "string"
summary = "B"
`),
	})
	if len(got) > 0 {
		t.Fatal(got)
	}
	var names []string
	for _, p := range project.Tools[0].Params {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"z", "a", "m", "b"}, names); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}

// FuzzLoad looks for documents that make the loader panic, or report places that do not exist.
func FuzzLoad(f *testing.F) {
	f.Add(projectTOML, toolTOML)
	f.Add("specs = [1, \"*\"]\n[cli]\na = 1\n", "parameters = 1\nenvelope = []\ncommand = { args = [1, {}] }\n")
	f.Add("[cli.\"a b\"]\n[[targets.jp.skills]]\n", "[parameters.\"\"]\n[[rules]]\n[[examples]]\narguments = 1979-05-27\n")
	f.Add("\ufeffmodule = '''\n'''", "[envelope]\n[[envelope.elements]]\nattributes = [{}, 1]\n")
	f.Fuzz(func(t *testing.T, top, tool string) {
		files := fstest.MapFS{"tools.toml": text(top), "specs/x/a.toml": text(tool)}
		_, diags := spec.Load(files)
		for _, d := range diags {
			if d.Span.IsZero() {
				continue
			}
			lines := strings.Count(string(files[d.File].Data), "\n") + 1
			if d.Span.Line < 1 || d.Span.Col < 1 || d.Span.EndLine > lines {
				t.Errorf("%s stands nowhere in a file of %d lines", d, lines)
			}
		}
		if err := diagprint.Text(discard{}, diags, func(name string) []byte { return files[name].Data }); err != nil {
			t.Error(err)
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) {
	for _, b := range p {
		if b < 0x20 && b != '\n' {
			return 0, fmt.Errorf("control character %q", b)
		}
	}
	return len(p), nil
}
