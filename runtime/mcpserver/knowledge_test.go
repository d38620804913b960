package mcpserver_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/mcpserver"
)

// shelf is a workspace with a knowledge base, and a client of a server in it.
func shelf(t *testing.T, files map[string]string) (dir string, client *mcp.ClientSession) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cfg := newTools().config()
	cfg.Knowledge = func() (mcpserver.Knowledge, error) {
		base, err := knowledge.Open(dir, knowledge.Options{})
		if err != nil {
			return nil, err
		}
		return base, nil
	}
	return dir, connect(t, cfg)
}

// oddNames mean something in URIs, or look as if they did.
func oddNames() []string {
	return []string{
		"plain", "in/a/folder", "two words", "c#", "what?", "100%", "a%2Fb", "a%20b", "naïve/日本語", "a&b=c+d", "x;y,z", "a:b@c", "[v2]", "{topic}", `"quoted"`, "star*",
		strings.Repeat("long", 50) + "/" + strings.Repeat("name", 50),
	}
}

// Every listed address reads, whether the client takes it from the list or fills
// in the template, which encodes slashes.
func TestSubjectAddresses(t *testing.T) {
	t.Parallel()
	files := map[string]string{"convtools.toml": "[kb.topic.notes]\nsubjects = \"kb\"\n"}
	for _, name := range oddNames() {
		files["kb/"+name+".md"] = "This is " + name
	}
	_, client := shelf(t, files)
	list, err := client.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list.Resources {
		name, ok := strings.CutPrefix(r.Name, "notes/")
		if !ok || r.MIMEType != "text/markdown" || r.Title != "notes: "+name {
			t.Errorf("listed as %+v", r)
		}
		got = append(got, name)
		filled := "kb://notes/" + percentEncode(name)
		for _, uri := range []string{r.URI, filled} {
			read, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil || read.Contents[0].Text != "This is "+name || read.Contents[0].URI != uri || read.Contents[0].MIMEType != r.MIMEType {
				t.Errorf("%s reads as %+v, %v", uri, read, err)
			}
		}
	}
	want := oddNames()
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
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

func hiddenAndDisabled() map[string]string {
	return map[string]string{
		"convtools.toml":    "[kb.topic.notes]\nsubjects = \"kb\"\ndisabled = [\"off\"]\n[kb.topic.gone]\nsubjects = \"gone\"\n[kb.topic.none]\nsubjects=\"kb\"\nenable=false\n",
		"kb/a.md":           "One.",
		"kb/.secret.md":     "Hidden.",
		"kb/off.md":         "Off.",
		"kb/Skill/SKILL.md": "---\ndescription: Does it.\n---\nDo it.",
		"kb/scan.bin":       "\x00\x01",
		"secret.md":         "Not of the knowledge base.",
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	files := hiddenAndDisabled()
	dir, client := shelf(t, files)
	list, err := client.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []*mcp.Resource{
		{URI: "kb://notes/Skill", Name: "notes/Skill", Title: "notes: Skill", Description: "Does it.", MIMEType: "text/markdown"},
		{URI: "kb://notes/a", Name: "notes/a", Title: "notes: a", MIMEType: "text/markdown"},
	}
	if diff := cmp.Diff(want, list.Resources); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list.CacheScope != "private" || list.TTLMs != 0 {
		t.Errorf("the list may be kept for %d ms, %s", list.TTLMs, list.CacheScope)
	}
	read := func(uri string) (string, error) {
		got, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return "", err
		}
		return got.Contents[0].Text, nil
	}
	if text, err := read("kb://notes/secret"); text != "Hidden." {
		t.Errorf("the hidden subject reads as %q, %v", text, err)
	}
	for _, text := range []string{"Two.", "Three."} {
		if err := os.WriteFile(filepath.Join(dir, "kb", "a.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := read("kb://notes/a"); got != text {
			t.Errorf("got %q, %v, where the file says %q", got, err, text)
		}
	}
	for _, uri := range []string{
		"kb://notes/off", "kb://notes/off.md", "kb://notes/scan", "kb://notes/none", "kb://notes/*", "kb://notes/**", "kb://none/a", "kb://nothing/a",
		"kb://notes", "kb://notes/", "kb://", "kb:///a", "kb:a", "kb:/notes/a", "KB://notes/a", "kb://../secret", "kb://notes/../secret.md", "kb://notes/%2e%2e%2fsecret.md",
		"kb://notes/../../../../../../etc/passwd", "kb://notes//etc/passwd", "kb://notes/%2Fetc%2Fpasswd", "file:/etc/passwd", "file:///etc/passwd", "/etc/passwd",
		"kb://notes/a%", "kb://notes/a%zz", "kb://notes/%ff", "kb://notes/a%00", "kb://notes/a?x=1", "kb://notes/a#x", "kb://user@notes/a", "kb://notes:80/a",
		"conversation://../kb/a", "kb://notes/" + strings.Repeat("a/", 20_000), "kb://" + strings.Repeat("n", 100_000) + "/a",
	} {
		text, err := read(uri)
		var wire *jsonrpc.Error
		if text != "" || !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%.80s reads as %q, %v", uri, text, err)
			continue
		}
		if strings.Contains(wire.Message, dir) || len(wire.Message)+len(wire.Data) > 4000 {
			t.Errorf("%.80s: %.5000s %s", uri, wire.Message, wire.Data)
		}
	}
	// What is wrong with the workspace is no client's fault, and where it is no client's business.
	_, err = read("kb://gone/a")
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInternalError || !strings.Contains(wire.Message, `gone does not exist`) || strings.Contains(wire.Message, dir) {
		t.Errorf("a topic without its directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte("[kb.topic.notes]\nsubjects = 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := read("kb://notes/a"); err == nil || !strings.Contains(err.Error(), "convtools knowledge check") || strings.Contains(err.Error(), dir) {
		t.Errorf("with errors in the configuration: %v", err)
	}
	if list, err := client.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 0 {
		t.Errorf("with errors in the configuration the list is %v, %v", list, err)
	}
}

// What the SDK or the system says about a failure may name places on the machine.
func TestSubjectFails(t *testing.T) {
	t.Parallel()
	_, err := connect(t, newWorkspace("").config()).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "kb://notes/broken"})
	if err == nil || !strings.Contains(err.Error(), "The server failed to answer") || strings.Contains(err.Error(), "somebody") {
		t.Errorf("error %v", err)
	}
}

// Errors name the address that was sent, however it is written.
func TestSubjectErrorsNameTheAddress(t *testing.T) {
	t.Parallel()
	_, client := shelf(t, map[string]string{"convtools.toml": "[kb.topic.notes]\nsubjects = \"kb\"\n", "kb/a.md": "One."})
	for _, uri := range []string{"kb://notes/in/b", "kb://notes/in%2Fb", "kb://notes/%62", "kb://n%6ftes/b", "kb://nothing/a b", "kb://"} {
		_, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || string(wire.Data) != `{"uri":"`+uri+`"}` {
			t.Errorf("%s: %v with %s", uri, err, wire.Data)
		}
	}
	for _, uri := range []string{"kb://notes/a", "kb://n%6Ftes/%61"} {
		if read, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err != nil || read.Contents[0].URI != uri {
			t.Errorf("%s: %+v, %v", uri, read, err)
		}
	}
}

// A page goes on behind what ended the one before, though that is gone, and what
// is around it.
func TestResourcePagesWhereSubjectsGo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(topics map[string][]string) (order []string)
		want   string // the first subject of the next page
	}{
		{"nothing", func(map[string][]string) []string { return []string{"m", "a", "z"} }, "a/one"},
		{"the last subject", func(all map[string][]string) []string {
			all["m"] = all["m"][:999]
			return []string{"m", "a", "z"}
		}, "a/one"},
		{"all subjects of the topic", func(all map[string][]string) []string {
			all["m"] = nil
			return []string{"m", "a", "z"}
		}, "a/one"},
		{"the topic", func(map[string][]string) []string { return []string{"a", "z"} }, "a/one"},
		{"the topic and the next", func(map[string][]string) []string { return []string{"z"} }, "z/two"},
		{"all that follows", func(map[string][]string) []string { return []string{"m"} }, ""},
		{"everything", func(map[string][]string) []string { return nil }, ""},
		{"nothing, and there is more", func(all map[string][]string) []string {
			all["m"] = append(all["m"], "zzz")
			return []string{"m", "a", "z"}
		}, "m/zzz"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			topics := map[string][]string{"a": {"one"}, "z": {"two"}}
			for i := range 1000 {
				topics["m"] = append(topics["m"], fmt.Sprintf("s%04d", i))
			}
			w := newWorkspace("")
			put := func(order []string) {
				w.topics = nil
				for _, topic := range order {
					for _, name := range topics[topic] {
						w.topics = append(w.topics, knowledge.Resource{Topic: topic, Name: name, MIMEType: "text/markdown"})
					}
				}
			}
			put([]string{"m", "a", "z"})
			client := connect(t, w.config())
			first, err := client.ListResources(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			w.change(func() { put(tc.change(topics)) })
			next, err := client.ListResources(t.Context(), &mcp.ListResourcesParams{Cursor: first.NextCursor})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if len(next.Resources) > 0 {
				got = next.Resources[0].Name
			}
			if got != tc.want {
				t.Errorf("the next page begins with %q, want %q", got, tc.want)
			}
		})
	}
}

// Pages together are the whole list, even where what ended one is gone.
func TestResourcePages(t *testing.T) {
	t.Parallel()
	w := newWorkspace("")
	for i := range 2500 {
		w.subjects = append(w.subjects, fmt.Sprintf("s%04d", i))
	}
	client := connect(t, w.config())
	var got []string
	sizes := []int{}
	params := &mcp.ListResourcesParams{}
	for {
		page, err := client.ListResources(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(page.Resources))
		for _, r := range page.Resources {
			got = append(got, strings.TrimPrefix(r.Name, "notes/"))
		}
		if page.NextCursor == "" {
			break
		}
		params.Cursor = page.NextCursor
		if len(sizes) == 1 {
			w.change(func() { w.subjects = slices.Delete(slices.Clone(w.subjects), 999, 1000) })
		}
	}
	if diff := cmp.Diff([]int{1000, 1000, 500}, sizes); diff != "" {
		t.Errorf("sizes of pages (-want +got):\n%s", diff)
	}
	if len(got) != 2500 || !slices.IsSorted(got) || got[999] != "s0999" || got[1000] != "s1000" {
		t.Errorf("%d subjects", len(got))
	}
	for _, cursor := range []string{"x", "!", "Lw", strings.Repeat("A", 10_000)} {
		_, err := client.ListResources(t.Context(), &mcp.ListResourcesParams{Cursor: cursor})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, "List from the beginning") {
			t.Errorf("cursor %.10q: %v", cursor, err)
		}
	}
}

func TestCompleteSubject(t *testing.T) {
	t.Parallel()
	files := hiddenAndDisabled()
	for i := range 120 {
		files[fmt.Sprintf("kb/many/%03d.md", i)] = "x"
	}
	_, client := shelf(t, files)
	for _, tc := range []struct {
		argument, topic, value string
		want                   []string
		total                  int
	}{
		{"topic", "", "", []string{"notes", "gone"}, 2},
		{"topic", "", "G", []string{"gone"}, 1},
		{"slug", "notes", "sk", []string{"Skill"}, 1},
		{"slug", "notes", "sec", []string{}, 0},
		{"slug", "notes", "off", []string{}, 0},
		{"slug", "nothing", "", []string{}, 0},
		{"slug", "", "", []string{}, 0},
		{"slug", "notes", "many/", nil, 120},
	} {
		params := &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "kb://{topic}/{slug}"},
			Argument: mcp.CompleteParamsArgument{Name: tc.argument, Value: tc.value},
		}
		if tc.topic != "" {
			params.Context = &mcp.CompleteContext{Arguments: map[string]string{"topic": tc.topic}}
		}
		got, err := client.Complete(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		c := got.Completion
		if c.Total != tc.total || c.HasMore != (tc.total > 100) || tc.want == nil && len(c.Values) != 100 || tc.want != nil && !cmp.Equal(tc.want, c.Values) {
			t.Errorf("%s %q of %q: %+v", tc.argument, tc.value, tc.topic, c)
		}
	}
	_, err := client.Complete(t.Context(), &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "kb://{topic}/{slug}"},
		Argument: mcp.CompleteParamsArgument{Name: "path"},
	})
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("an argument that is not there: %v", err)
	}
}

// Results of the stateless era say that they are complete; some clients refuse
// them otherwise.
func TestResourcesAreComplete(t *testing.T) {
	t.Parallel()
	s := start(t, newWorkspace("", "in/a/folder").config())
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + modern + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kb://notes/in/a/folder",` + modern + `}}`,
	} {
		s.send(request + "\n")
		if line := <-s.lines; !strings.Contains(line, `"resultType":"complete"`) || !strings.Contains(line, `"uri":"kb://notes/in/a/folder"`) || !strings.Contains(line, `"cacheScope":"private"`) || !strings.Contains(line, `"ttlMs":0`) {
			t.Errorf("%s is answered with %s", request, line)
		}
	}
	s.end()
}
