package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/docs"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
)

func emitted(t *testing.T, c *ir.Contract) []emit.File {
	t.Helper()
	files, err := docs.Emit(c, schema.Of)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestGolden(t *testing.T) {
	t.Parallel()
	irtest.Golden(t, emitted(t, irtest.Contract()))
}

// fence matches the start or end of a fenced code block. Hostile text may make a fence longer.
var fence = regexp.MustCompile("^(`{3,})([a-z]*)$")

// skeleton returns the structure of a Markdown file: its headings, the number of cells in each row, and the bounds of
// code blocks. It fails for other lines with a character of a tag or a cell outside of code.
func skeleton(t *testing.T, data []byte) []string {
	var shape []string
	open := "" // the fence of the code block that the line is in
	for line := range strings.SplitSeq(string(data), "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case open != "":
			if line == open {
				shape, open = append(shape, "end"), ""
			}
		case m != nil:
			open = m[1]
			shape = append(shape, "code "+m[2])
		case strings.HasPrefix(line, "#"):
			shape = append(shape, line)
		case strings.HasPrefix(line, "|"):
			shape = append(shape, strings.Repeat("|", strings.Count(line, "|")))
		case strings.HasPrefix(line, "<!-- ") && strings.Count(line, "-->") == 1:
			shape = append(shape, "comment")
		default:
			rest := strings.NewReplacer("<code>", "", "</code>", "", "\\`", "").Replace(line)
			for i, part := range strings.Split(rest, "`") {
				if i%2 == 0 && strings.ContainsAny(part, "<>|") { // outside of code
					t.Errorf("bare markup in %q", line)
				}
			}
		}
	}
	return shape
}

// Text of a spec adds no heading, row, cell, fence or tag.
func TestHostileTextIsNoMarkup(t *testing.T) {
	t.Parallel()
	plain, hostile := emitted(t, irtest.Contract()), emitted(t, irtest.Hostile())
	for i := range plain {
		if diff := cmp.Diff(skeleton(t, plain[i].Data), skeleton(t, hostile[i].Data)); diff != "" {
			t.Errorf("%s has another shape (-plain +hostile):\n%s", plain[i].Path, diff)
		}
		for _, r := range string(hostile[i].Data) {
			if r < ' ' && r != '\n' || r == 0x7f || r == 0x2028 || r == 0x202e || r == 0xfeff {
				t.Errorf("%s holds the character %U", hostile[i].Path, r)
			}
		}
		for _, text := range []string{"<script", "</script", "<img"} {
			if strings.Contains(string(hostile[i].Data), text) {
				t.Errorf("%s holds %s", hostile[i].Path, text)
			}
		}
	}
}

func TestIndexLinksEveryPage(t *testing.T) {
	t.Parallel()
	files := emitted(t, irtest.Contract())
	index := string(files[0].Data)
	if files[0].Path != "generated/docs/README.md" {
		t.Fatalf("first file %s", files[0].Path)
	}
	for _, f := range files[1:] {
		name := strings.TrimPrefix(f.Path, "generated/docs/")
		if !strings.Contains(index, "("+name+")") {
			t.Errorf("no link to %s in\n%s", name, index)
		}
	}
}

func TestSourceCannotEndTheComment(t *testing.T) {
	t.Parallel()
	c := irtest.Contract()
	c.Tools()[0].Source = "specs/--><b>\n# x.toml"
	first, rest, _ := strings.Cut(string(emitted(t, c)[1].Data), "\n")
	if strings.Count(first, "-->") != 1 || strings.HasPrefix(rest, "#") {
		t.Errorf("file begins with %q, %.40q", first, rest)
	}
}

// An element may contain itself: the tree names it again and stops.
func TestRecursiveEnvelope(t *testing.T) {
	t.Parallel()
	c := irtest.Contract()
	root := &c.Tools()[5].Envelope.Elements[0]
	root.Children = []ir.Child{{Element: root.Name, GoName: "Again", Many: true}}
	page := string(emitted(t, c)[6].Data)
	if want := "```text\n<note_clear>\n  <note_clear> any number\n```\n"; !strings.Contains(page, want) {
		t.Errorf("no tree %q in\n%s", want, page)
	}
}
