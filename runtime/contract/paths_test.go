package contract_test

import (
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/contract"
)

func TestWithoutPaths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{"no path at all", "no path at all"},
		{"/home/jane/work", "work"},
		{"/home/jane/work/", "work"},
		{"/etc", "etc"},
		{"in / or above it", "in / or above it"},
		{"/", "/"},
		{"in /home/jane/work or above it", "in work or above it"},
		{"/home/jane/my work/.jp/conversations: the directory cannot be listed: permission denied", "conversations: the directory cannot be listed: permission denied"},
		{`open "/home/jane/my work": no such file`, `open "my work": no such file`},
		{"open '/home/jane/my work': no such file", "open 'my work': no such file"},
		{"a directory (/home/jane/work), and more", "a directory (work), and more"},
		{"from=/a/b; to=/c/d", "from=b; to=d"},
		{`C:\Users\jane doe\work: it is a link`, "work: it is a link"},
		{`open "C:\\Users\\jane\\work": denied`, `open "work": denied`},
		{"D:/work/notes is gone", "notes is gone"},
		{`\\host\share\work is gone`, "work is gone"},
		{`C:\ is full`, `C:\ is full`},
		{"/home/é/tâches: gone", "tâches: gone"},
		{"and/or, 2026/03/06, text/html, n/a", "and/or, 2026/03/06, text/html, n/a"},
		{"see https://example.com/a/b", "see https://example.com/a/b"},
		{"open /home/some one/project/a.json: denied", "open a.json: denied"},
		{"in /home/jane/work/, as said", "in work, as said"},
		{"]:/b", "]:/b"},
		{"conversation://jp-c1", "conversation://jp-c1"},
		{"relative .jp/conversations/17-x", "relative .jp/conversations/17-x"},

		// Whatever stands right before a path.
		{"file:///home/alice/x", "file:x"},
		{"file:/home/alice/x", "file:x"},
		{"file://server/home/alice/x", "file:x"},
		{"file:///C:/Users/alice/x", "file:x"},
		{"sqlite:/home/alice/x.db", "sqlite:x.db"},
		{"sqlite:///home/alice/x.db", "sqlite:x.db"},
		{"a,/home/alice/x", "a,x"},
		{"@/home/alice/x", "@x"},
		{"-I/home/alice/x", "-Ix"},
		{`-IC:\Users\alice\x`, "-Ix"},
		{"<path>/home/alice/x</path>", "<path>x</path>"},
		{"see </home/alice/x>", "see <x>"},
		{"é/home/alice/x", "éx"},
		{"\u200b/home/alice/x", "\u200bx"},
		{"**/home/alice/x**", "**x**"},
		{"“/home/alice/x” is gone", "“x” is gone"},
		{"{/home/alice/x}", "{x}"},
		{"2>/dev/null", "2>null"},
		{"a:C:/Users/alice/x", "a:x"},
		{"host:/home/alice/x", "host:x"},

		// What is no absolute path.
		{"*/*, +/-, 会議/議事録.md, a </b> c <br/>", "*/*, +/-, 会議/議事録.md, a </b> c <br/>"},
		{"~/work/x, ./a/b, ../a/b, $HOME/a/b", "~/work/x, ./a/b, ../a/b, $HOME/a/b"},
		{"guides/**/*.md, src/[id]/x, a/é/b/c", "guides/**/*.md, src/[id]/x, a/é/b/c"},
		{"-1/2/3", "-1/2/3"},
		{"// a comment", "// a comment"},
		{`C:work and \u{202E}`, `C:work and \u{202E}`},
		{"knowledge://project/a/b and http://host/a/b", "knowledge://project/a/b and http://host/a/b"},

		// Several in a row.
		{"PATH=/a/b:/home/alice/c,/d/e", "PATH=b:c,e"},
		{"a/b:/home/alice/c", "a/b:c"},
		{"rename /home/a/x /home/b/y: denied", "rename x y: denied"},
		{"cannot copy /home/a/x to /home/b/y", "cannot copy x to y"},
		{"cannot copy /home/a/x to old/y", "cannot copy x to old/y"},
		{"/home/a/x https://example.com/docs/lock", "x https://example.com/docs/lock"},
		{"/home/a/x file:/home/b/y", "x file:y"},
		{"/home/a/x (text/html)", "x (text/html)"},
		{"/home/a/x, and/or b", "x, and/or b"},
		{
			"cannot open /home/a/.jp because it is locked by jp query / see https://example.com/docs/lock",
			"cannot open .jp because it is locked by jp query / see https://example.com/docs/lock",
		},

		// Punctuation behind a path, and in it.
		{"in /home/jane/work/.", "in work."},
		{"(in /home/jane/work/), so", "(in work), so"},
		{"/home/jane/x.json:12:3: bad", "x.json:12:3: bad"},
		{"/home/jane/10:30/a,b/[id]/x", "x"},
		{"/home/o'brien/x is gone", "x is gone"},
		{"'in=/home/jane/work/'", "'in=work'"},

		// White space in names.
		{"/home/jane doe/work", "work"},
		{"/home/日本 語/x", "x"},
		{"gcc /home/a/x -I/home/b/y", "gcc x -Iy"},
		{`/home/jane\ doe/my work/x is gone`, "x is gone"},
		{"/Users/jane/Library/Application Support/jp/a.db: locked", "a.db: locked"},
		{"/home/jane/my big work/x", "my big work/x"}, // a limit: of two spaces nothing is known
		{"/home/jane\nwork/x", "jane\nwork/x"},
		{"it's \"/home/jane/x\nsays \"no\"", "it's \"x\nsays \"no\""},
	} {
		if got := contract.WithoutPaths(tc.text); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

// FuzzWithoutPaths: whatever stands around it, an absolute path does not stay,
// and text without one does.
func FuzzWithoutPaths(f *testing.F) {
	f.Add("reading ", ": denied")
	f.Add("in ", " or above it")
	f.Add(`"`, `"`)
	f.Add("(/a/b c/", ")")
	f.Add("\xff/", "\\")
	f.Add("https://a", " b/c")
	f.Add("/a b/c", ",/d")
	f.Fuzz(func(t *testing.T, before, after string) {
		got := contract.WithoutPaths(before + " /home/jane/work" + after)
		if strings.Contains(got, " /home/jane") {
			t.Errorf("%q + path + %q: got %q", before, after, got)
		}
		if plain := strings.NewReplacer("/", "-", `\`, "-").Replace(before + after); contract.WithoutPaths(plain) != plain {
			t.Errorf("%q was changed to %q", plain, contract.WithoutPaths(plain))
		}
	})
}
