package knowledge_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/toolset"
)

// shelf is the resources of a project of files.
func shelf(t *testing.T, files map[string]string) (dir string, r toolset.Resources) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir, knowledge.Family(host(dir)).Resources[0]
}

// oddNames mean something in URIs, or look as if they did.
func oddNames() []string {
	return []string{
		"plain", "in/a/folder", "two words", "c#", "what?", "100%", "a%2Fb", "a%20b", "naïve/日本語", "a&b=c+d", "x;y,z", "a:b@c", "[v2]", "{topic}", `"quoted"`, "star*",
		" blanks ", strings.Repeat("long", 50) + "/" + strings.Repeat("name", 50),
	}
}

// percentEncode encodes as the expansion of {slug} does, here without looking at
// what need not be encoded: https://www.rfc-editor.org/rfc/rfc6570#section-3.2.2
func percentEncode(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// Every listed address reads, whether a client takes it from the list or fills in
// the template, which encodes slashes.
func TestAddresses(t *testing.T) {
	t.Parallel()
	files := map[string]string{"convtools.toml": "[kb.topic.notes]\nsubjects = \"kb\"\n"}
	for _, name := range oddNames() {
		files["kb/"+name+".md"] = "This is " + name
	}
	_, r := shelf(t, files)
	page, _, err := r.List(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, res := range page {
		name, ok := strings.CutPrefix(res.Name, "notes/")
		if !ok || res.MIMEType != "text/markdown" || res.Title != "notes: "+strings.TrimSpace(name) {
			t.Errorf("listed as %+v", res)
		}
		got = append(got, name)
		for _, uri := range []string{res.URI, "kb://notes/" + percentEncode(name)} {
			read, err := r.Read(t.Context(), contract.Context{}, uri)
			if diff := cmp.Diff(toolset.Contents{Text: "This is " + name, MIMEType: res.MIMEType}, read); diff != "" || err != nil {
				t.Errorf("%s (-want +got):\n%s%v", uri, diff, err)
			}
		}
	}
	want := oddNames()
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

// Addresses lead to subjects of enabled topics and to nothing else.
func TestUnknownAddresses(t *testing.T) {
	t.Parallel()
	dir, r := shelf(t, map[string]string{
		"convtools.toml": "[kb.topic.notes]\nsubjects = \"kb\"\ndisabled = [\"off\"]\n[kb.topic.none]\nsubjects=\"kb\"\nenable=false\n",
		"kb/a.md":        "One.",
		"kb/.secret.md":  "Hidden.",
		"kb/off.md":      "Off.",
		"kb/scan.bin":    "\x00\x01",
		"secret.md":      "Not of the knowledge base.",
	})
	if read, err := r.Read(t.Context(), contract.Context{}, "kb://notes/secret"); read.Text != "Hidden." {
		t.Errorf("the hidden subject reads as %q, %v", read.Text, err)
	}
	for _, text := range []string{"Two.", "Three."} {
		writeFile(t, filepath.Join(dir, "kb", "a.md"), text)
		if read, err := r.Read(t.Context(), contract.Context{}, "kb://notes/a"); read.Text != text {
			t.Errorf("got %q, %v, where the file says %q", read.Text, err, text)
		}
	}
	for _, uri := range []string{
		"kb://notes/off", "kb://notes/off.md", "kb://notes/none", "kb://notes/*", "kb://notes/**", "kb://none/a", "kb://nothing/a",
		"kb://notes", "kb://notes/", "kb://", "kb:///a", "kb:a", "kb:/notes/a", "KB://notes/a", "kb://../secret", "kb://notes/../secret.md", "kb://notes/%2e%2e%2fsecret.md",
		"kb://notes/../../../../../../etc/passwd", "kb://notes//etc/passwd", "kb://notes/%2Fetc%2Fpasswd", "file:/etc/passwd", "file:///etc/passwd", "/etc/passwd",
		"kb://notes/a%", "kb://notes/a%zz", "kb://notes/%ff", "kb://notes/a%00", "kb://notes/a?x=1", "kb://notes/a#x", "kb://user@notes/a", "kb://notes:80/a",
		"conversation://../kb/a", "kb://notes/" + strings.Repeat("a/", 20_000), "kb://" + strings.Repeat("n", 100_000) + "/a",
	} {
		read, err := r.Read(t.Context(), contract.Context{}, uri)
		var missing *toolset.NotFoundError
		if !errors.As(err, &missing) || missing.URI != uri {
			t.Errorf("%.80s reads as %q, %v", uri, read.Text, err)
			continue
		}
		if strings.Contains(missing.Reason, dir) || len(missing.Reason) > 4000 {
			t.Errorf("%.80s: %.5000s", uri, missing.Reason)
		}
	}
}

// A page goes on behind what ended the one before, though that is gone, and what
// is around it.
func TestResourcePagesWithoutSubjects(t *testing.T) {
	t.Parallel()
	config := func(topics ...string) string {
		text := ""
		for _, id := range topics {
			text += fmt.Sprintf("[kb.topic.%s]\nsubjects = %q\n", id, id)
		}
		return text
	}
	for _, tt := range []struct {
		name   string
		topics []string
		remove []string
		add    string
		want   string // the first subject of the next page
	}{
		{"nothing", []string{"m", "n", "z"}, nil, "", "n/one"},
		{"the last subject", []string{"m", "n", "z"}, []string{"m/3.md"}, "", "n/one"},
		{"all subjects of the topic", []string{"m", "n", "z"}, []string{"m/1.md", "m/2.md", "m/3.md"}, "", "n/one"},
		{"the topic", []string{"n", "z"}, nil, "", "n/one"},
		{"all that follows", []string{"m"}, nil, "", ""},
		{"nothing, and there is more", []string{"m", "n", "z"}, nil, "m/zzz.md", "m/zzz"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, r := shelf(t, map[string]string{
				"convtools.toml": config("m", "n", "z"), "m/1.md": "x", "m/2.md": "x", "m/3.md": "x", "n/one.md": "x", "z/two.md": "x",
			})
			_, cursor, err := r.List(t.Context(), "", 3)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, "convtools.toml"), config(tt.topics...))
			for _, name := range tt.remove {
				if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
					t.Fatal(err)
				}
			}
			if tt.add != "" {
				writeFile(t, filepath.Join(dir, filepath.FromSlash(tt.add)), "x")
			}
			next, _, err := r.List(t.Context(), cursor, 3)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(next) > 0 {
				got = next[0].Name
			}
			if got != tt.want {
				t.Errorf("the next page begins with %q, want %q", got, tt.want)
			}
		})
	}
}
