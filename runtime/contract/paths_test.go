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
