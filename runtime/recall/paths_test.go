package recall

import (
	"strings"
	"testing"
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
		{"relative .jp/conversations/17-x", "relative .jp/conversations/17-x"},
	} {
		if got := withoutPaths(tc.text); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestSkippedNamesNoPath(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		skipped skipped
		want    string
	}{
		{skipped{Reason: "/home/jane/work/.jp/conversations: the store cannot be opened: permission denied"}, "conversations: the store cannot be opened: permission denied"},
		{skipped{ID: "jp-c1", Reason: "events.json is missing in /home/jane/work/.jp/conversations/17-x"}, "jp-c1 (events.json is missing in 17-x)"},
		// The path goes before the text is cut, lest half of it stays.
		{skipped{Reason: "/" + strings.Repeat("d/", 200) + "x: gone"}, "x: gone"},
	} {
		if got := tc.skipped.String(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
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
		got := withoutPaths(before + " /home/jane/work" + after)
		if strings.Contains(got, " /home/jane") {
			t.Errorf("%q + path + %q: got %q", before, after, got)
		}
		if plain := strings.NewReplacer("/", "-", `\`, "-").Replace(before + after); withoutPaths(plain) != plain {
			t.Errorf("%q was changed to %q", plain, withoutPaths(plain))
		}
	})
}
