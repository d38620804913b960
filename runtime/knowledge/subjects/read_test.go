package subjects_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, data, want string }{
		{"KB-28 md", "x.md", "# A\n\ntext\n", "# A\n\ntext"},
		{"KB-28 txt", "x.txt", "a", "a"},
		{"KB-28 text", "x.text", "a", "a"},
		{"KB-28 no extension", "x", "a", "a"},
		{"KB-28 empty extension", "x.", "a", "a"},
		{"A-17 markdown", "x.markdown", "a", "a"},
		{"A-17 MD in capitals", "x.MD", "a", "a"},
		{"A-17 mdx is fenced", "x.mdx", "a", "```mdx\na\n```"},
		{"KB-29 toml", "x.toml", "a = 1\n", "```toml\na = 1\n```"},
		{"KB-29 json", "x.json", "{}", "```json\n{}\n```"},
		{"KB-29 yaml", "x.yaml", "a", "```yaml\na\n```"},
		{"KB-29 yml", "x.yml", "a", "```yaml\na\n```"},
		{"KB-29 rust", "x.rs", "a", "```rust\na\n```"},
		{"A-17 RS in capitals", "x.RS", "a", "```rust\na\n```"},
		{"KB-29 python", "x.py", "a", "```python\na\n```"},
		{"KB-29 javascript", "x.js", "a", "```javascript\na\n```"},
		{"KB-29 typescript", "x.ts", "a", "```typescript\na\n```"},
		{"KB-29 any other", "x.go", "a", "```go\na\n```"},
		{"KB-29 an extension that is no word", "x.a b`c", "a", "```\na\n```"},
		{"KB-29 a name without extension is no dot file's", ".gitignore", "bin/", "bin/"},
		{"A-14 byte order mark", "x.md", "\ufeff# A", "# A"},
		{"A-15 three backticks", "x.go", "a\n```\nb", "````go\na\n```\nb\n````"},
		{"A-15 a run of seven", "x.go", "` `` ```````", "````````go\n` `` ```````\n````````"},
		{"A-15 two backticks", "x.go", "``", "```go\n``\n```"},
		{"A-15 prose is not fenced", "x.md", "```\na\n```", "```\na\n```"},
		{"A-16 closers stay where nothing is wrapped", "x.md", "</subject>", "</subject>"},
		{"KB-30 line breaks", "x.md", "a\r\nb\r\n", "a\nb"},
		{"KB-30 controls are visible", "x.md", "a\x1b[31mb\u202ec", "a␛[31mb\\u{202E}c"},
		{"KB-31 NUL behind the beginning", "x.md", strings.Repeat("a", 8192) + "\x00", strings.Repeat("a", 8192) + "␀"},
		{"only the last line break goes", "x.md", "\n\na\n\n", "\n\na\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := subjects.Content{Text: test.want, Size: int64(len(test.data))}
			if diff := cmp.Diff(want, content(t, test.file, test.data)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestNoText(t *testing.T) {
	t.Parallel()
	a := strings.Repeat("a", 8191)
	for _, test := range []struct {
		name, file, data string
		want             subjects.Content
	}{
		{"A-28 empty", "x.md", "", subjects.Content{Empty: true}},
		{"A-28 empty is not fenced", "x.go", "", subjects.Content{Empty: true}},
		{"A-28 nothing but a line break", "x.go", "\r\n", subjects.Content{Empty: true, Size: 2}},
		{"A-28 nothing but a byte order mark", "x.md", "\ufeff", subjects.Content{Empty: true, Size: 3}},
		{"KB-31 NUL as byte 8,192", "x.md", a + "\x00", subjects.Content{Kind: subjects.Kind{Binary: true}, Size: 8192}},
		{"KB-31 NUL as first byte", "x.png", "\x00", subjects.Content{Kind: subjects.Kind{Binary: true}, Size: 1}},
		{"A-13 UTF-16", "x.txt", "\xff\xfea\x00", subjects.Content{Kind: subjects.Kind{Binary: true}, Size: 4}},
		{"A-24 one byte too many", "x.md", strings.Repeat("a", 4<<20+1), subjects.Content{Kind: subjects.Kind{TooLarge: true}, Size: 4<<20 + 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, content(t, test.file, test.data)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("A-24 the largest file", func(t *testing.T) {
		t.Parallel()
		if c := content(t, "x.md", strings.Repeat("a", 4<<20)); len(c.Text) != 4<<20 {
			t.Errorf("%d bytes", len(c.Text))
		}
	})
}

func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, data, want string
		noted            bool
	}{
		{"A-14 Latin-1", "caf\xe9\n", "caf\ufffd", true},
		{"A-14 cut off", "a\xe2\x82", "a\ufffd\ufffd", true},
		{"A-14 the replacement character itself", "a\ufffd", "a\ufffd", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if c := content(t, "x.md", test.data); c.Text != test.want || (c.Note != "") != test.noted {
				t.Errorf("%q, note %q", c.Text, c.Note)
			}
		})
	}
}

func TestCloseTags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"A-16 subject", "a</subject>b", "a&lt;/subject>b"},
		{"A-16 topic", "</topic>", "&lt;/topic>"},
		{"A-16 knowledge", "</knowledge >", "&lt;/knowledge >"},
		{"A-16 any case", "</SubJect></TOPIC></Knowledge", "&lt;/SubJect>&lt;/TOPIC>&lt;/Knowledge"},
		{"A-16 longer names too", "</subjects>", "&lt;/subjects>"},
		{"A-16 opening ones stay", `<subject "a"> <topic>`, `<subject "a"> <topic>`},
		{"A-16 other closers stay", "</div></sub></", "</div></sub></"},
		{"A-16 doubled", "<</subject", "<&lt;/subject"},
		{"A-16 entities stay", "&lt;/subject>", "&lt;/subject>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := subjects.CloseTags(test.text); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	dir := topic(t, map[string]string{
		"binary.md": "\x00abc",
		"edge.md":   strings.Repeat("a", 8191) + "\x00",
		"empty.md":  "",
		"gone.md":   "x",
		"late.md":   strings.Repeat("a", 8192) + "\x00",
		"large.md":  strings.Repeat("a", 4<<20+4),
		"text.md":   "12345",
	})
	tree := scan(t, dir)
	if err := os.Remove(filepath.Join(dir, "gone.md")); err != nil {
		t.Fatal(err)
	}
	var all []*subjects.Subject
	for _, path := range []string{"text.md", "binary.md", "edge.md", "late.md", "empty.md", "large.md", "gone.md"} {
		all = append(all, find(t, tree, path))
	}
	if err := tree.Look(soon(t), all); err != nil {
		t.Fatal(err)
	}
	type facts struct {
		Size    int64
		Tokens  int
		Kind    subjects.Kind
		Problem string
	}
	var got []facts
	for _, s := range all {
		got = append(got, facts{s.Size, s.Tokens, s.Kind, s.Problem})
	}
	binary, large := subjects.Kind{Binary: true}, subjects.Kind{TooLarge: true}
	want := []facts{{5, 2, subjects.Kind{}, ""}, {4, 0, binary, ""}, {8192, 0, binary, ""}, {Size: 8193, Tokens: 2049}, {}, {4<<20 + 4, 0, large, ""}, {Problem: "no such file or directory"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := tree.Read(soon(t), find(t, tree, "gone.md")); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), dir) {
		t.Errorf("reading what is gone: %v", err)
	}
}

func TestReadIsFresh(t *testing.T) {
	t.Parallel()
	dir := topic(t, map[string]string{"a.md": "before"})
	tree := scan(t, dir)
	write(t, dir, "a.md", "after, and longer")
	if c, err := tree.Read(soon(t), find(t, tree, "a.md")); err != nil || c.Text != "after, and longer" {
		t.Errorf("%q, %v", c.Text, err)
	}
}
