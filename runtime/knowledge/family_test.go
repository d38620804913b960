package knowledge_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/toolset"
)

// host is one whose project is dir.
func host(dir string) *toolset.Host {
	return &toolset.Host{
		Dir: dir, Getenv: func(string) string { return "" }, Now: time.Now,
		Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{},
	}
}

// give gives a family a flag.
func give(t *testing.T, f toolset.Family, name, value string) toolset.Flag {
	t.Helper()
	for _, flag := range f.Flags {
		if flag.Name == name {
			if err := flag.Set(value); err != nil {
				t.Fatal(err)
			}
			return flag
		}
	}
	t.Fatalf("there is no flag %s", name)
	return toolset.Flag{}
}

func TestFamilyOffers(t *testing.T) {
	t.Parallel()
	const topic = "-- convtools.toml --\n[kb.topic.a]\ntitle = \"First\"\nsubjects = \"kb\"\nlearned = [\"x\"]\n"
	for _, tt := range []struct {
		name, files string
		injected    bool
		want        string // part of the description; empty where the tool is not offered
	}{
		{"a topic", topic + "-- kb/x.md --\nX\n", false, "\n\nTopics:\n- a (**First**)"},
		{"everything in the prompt", topic + "-- kb/x.md --\nX\n", true, ""},
		{"an empty topic", topic, false, ""},
		{"no topic", "-- convtools.toml --\n", false, ""},
		{"a broken configuration", "-- convtools.toml --\nkb = 1\n", false, "Nothing can be learned at the moment"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := knowledge.Family(host(workspace(t, tt.files)))
			if tt.injected {
				give(t, f, "prompt-injected", "true")
			}
			tools, instructions := f.Offered(t.Context()), f.Instructions(t.Context(), contract.Context{})
			if tt.want == "" {
				if len(tools) != 0 || instructions != "" {
					t.Errorf("offered %+v, %q; want nothing", tools, instructions)
				}
				return
			}
			if len(tools) != 1 || tools[0].Name != "learn" || !strings.Contains(instructions, "learn names its topics") {
				t.Fatalf("offered %+v, %q", tools, instructions)
			}
			wants(t, tools[0].Description, tt.want)
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	dir := workspace(t, "-- convtools.toml --\n[kb.topic.a]\nsubjects = \"kb\"\n-- kb/x.md --\nX\n-- kb/in/deep/y.md --\nY\n-- other/z.md --\nZ\n")
	// Far from now, so that the times of files count.
	h := host(dir)
	h.Now = func() time.Time { return time.Now().Add(time.Hour) }
	f := knowledge.Family(h)
	last := f.Version(t.Context())
	step := func(name string, changes bool, do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		// As if some time had passed between any two steps.
		for _, path := range []string{"convtools.toml", "kb", "kb/in", "kb/in/deep", "kb/in/empty"} {
			path = filepath.Join(dir, filepath.FromSlash(path))
			if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) < time.Minute {
				touched := info.ModTime().Add(-time.Hour).Add(time.Duration(len(name)) * time.Second)
				if err := os.Chtimes(path, touched, touched); err != nil {
					t.Fatal(err)
				}
			}
		}
		now := f.Version(t.Context())
		if (now != last) != changes {
			t.Errorf("%s: the version changes: %v, want %v", name, now != last, changes)
		}
		last = now
	}
	path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write := func(name, text string) func() error {
		return func() error { return os.WriteFile(path(name), []byte(text), 0o644) }
	}
	step("nothing", false, func() error { return nil })
	step("a file elsewhere", false, write("other/a.md", "A"))
	step("a new subject", true, write("kb/new.md", "N"))
	step("a new deep subject", true, write("kb/in/deep/new.md", "N"))
	step("an empty directory", false, func() error { return os.Mkdir(path("kb/in/empty"), 0o755) })
	step("a subject in the once empty directory", true, write("kb/in/empty/z.md", "Z"))
	step("what a subject says", false, write("kb/x.md", "changed"))
	step("a subject less", true, func() error { return os.Remove(path("kb/new.md")) })
	step("a title", true, write("convtools.toml", "[kb.topic.a]\nsubjects = \"kb\"\ntitle = \"T\"\n"))
	step("another directory", true, write("convtools.toml", "[kb.topic.a]\nsubjects = \"other\"\ntitle = \"T\"\n"))
	step("broken", true, write("convtools.toml", "[kb.topic.a\n"))
	step("no configuration at all", true, func() error { return os.Remove(path("convtools.toml")) })
	step("one again, above", true, write("convtools.toml", "[kb.topic.a]\nsubjects = \"kb\"\n"))
}

// A file system that counts time in steps shows two changes in one step as one.
func TestVersionWithinOneStep(t *testing.T) {
	t.Parallel()
	dir := workspace(t, "-- convtools.toml --\n[kb.topic.a]\nsubjects = \"kb\"\n-- kb/x.md --\nX\n")
	f := knowledge.Family(host(dir))
	before := f.Version(t.Context())
	kb := filepath.Join(dir, "kb")
	info, err := os.Stat(kb)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(kb, "y.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(kb, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if f.Version(t.Context()) == before {
		t.Error("a subject that came in the same moment is not seen")
	}
}

func TestResourcesOfFamily(t *testing.T) {
	t.Parallel()
	dir := workspace(t, attachable)
	h := host(dir)
	f := knowledge.Family(h)
	r := f.Resources[0]
	all, next, err := r.List(t.Context(), "", 100)
	if err != nil || next != "" {
		t.Fatal(next, err)
	}
	wants(t, h.Stderr.(*bytes.Buffer).String(), `warning: topic "gone"`, "does not exist")
	if diff := cmp.Diff(toolset.Resource{URI: "kb://code/latin", Name: "code/latin", Title: "code: latin", MIMEType: "text/markdown"}, all[0]); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	// Pages of any size together are the whole list.
	for limit := 1; limit <= len(all)+1; limit++ {
		var pages []toolset.Resource
		cursor := ""
		for {
			page, next, err := r.List(t.Context(), cursor, limit)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) > limit || len(page) == 0 {
				t.Fatalf("a page of %d has %d", limit, len(page))
			}
			pages = append(pages, page...)
			if cursor = next; cursor == "" {
				break
			}
		}
		if diff := cmp.Diff(all, pages); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
		}
	}
	for _, res := range all {
		read, err := r.Read(t.Context(), contract.Context{}, res.URI)
		if err != nil || read.MIMEType != res.MIMEType || read.Text == "" {
			t.Errorf("%s reads as %+v, %v", res.URI, read, err)
		}
	}
	var missing *toolset.NotFoundError
	for _, uri := range []string{"kb://project/off", "kb://project/*", "kb://project", "kb:///a", "kb://project/a%zz", "KB://project/a", "kb://project/../../../etc/passwd", "kb://nothing/a"} {
		if _, err := r.Read(t.Context(), contract.Context{}, uri); !errors.As(err, &missing) || missing.URI != uri {
			t.Errorf("%s: %v, want a NotFoundError", uri, err)
		}
	}
	if _, err := r.Read(t.Context(), contract.Context{}, "kb://gone/a"); err == nil || errors.As(err, &missing) || strings.Contains(err.Error(), dir) {
		t.Errorf("a topic without its directory: %v", err)
	}
	names, err := r.Complete(t.Context(), "slug", "sk", map[string]string{"topic": "project"})
	if diff := cmp.Diff([]string{"Skill"}, names); diff != "" || err != nil {
		t.Errorf("completed (-want +got):\n%s%v", diff, err)
	}
	// A broken configuration is no reason for a client to take the server for broken.
	if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte("kb = 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if page, next, err := r.List(t.Context(), "", 10); len(page) != 0 || next != "" || err != nil {
		t.Errorf("listed %+v, %q, %v", page, next, err)
	}
	_, err = r.Read(t.Context(), contract.Context{}, "kb://project/a")
	if err == nil || errors.As(err, &missing) {
		t.Fatalf("read: %v", err)
	}
	wants(t, err.Error(), "convtools knowledge check")
}

func TestArguments(t *testing.T) {
	t.Parallel()
	f := knowledge.Family(host(workspace(t, attachable)))
	for _, tt := range []struct {
		argument, prefix, topic string
		want                    []string
	}{
		{"topic", "", "", []string{"project", "code", "gone"}},
		{"topic", "no", "", []string{"project"}}, // by its title
		{"subjects", "sk", "project", []string{"Skill"}},
		{"subjects", "", "nothing", nil},
		{"subjects", "", "", nil},
		{"other", "", "", nil},
	} {
		got := f.Arguments(t.Context(), "learn", tt.argument, tt.prefix, map[string]string{"topic": tt.topic})
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s=%s (-want +got):\n%s", tt.argument, tt.prefix, diff)
		}
	}
	for prefix, want := range map[string][]string{"": {"project/", "code/", "gone/"}, "project/sk": {"project/Skill"}, "nothing/": nil} {
		if diff := cmp.Diff(want, f.Flags[0].Complete(t.Context(), prefix)); diff != "" {
			t.Errorf("-k %s (-want +got):\n%s", prefix, diff)
		}
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	dir := workspace(t, attachable)
	f := knowledge.Family(host(dir))
	if err := give(t, f, "knowledge", "project/**").Check(); err != nil {
		t.Error(err)
	}
	injected := give(t, f, "prompt-injected", "true")
	if diff := cmp.Diff([]string{"Put what this prints into the system prompt, now and after every change of what is learned: convtools knowledge prompt -k 'project/**'"}, injected.Advice(false)); diff != "" {
		t.Errorf("advice (-want +got):\n%s", diff)
	}
	if advice := injected.Advice(true); len(advice) != 2 || !strings.Contains(advice[0], " --format jp > .jp/config/knowledge-section.json") {
		t.Errorf("advice for JP: %q", advice)
	}
	err := give(t, f, "knowledge", "nothing/**").Check()
	if wrong, ok := errors.AsType[*config.Error](err); !ok || wrong.Problems[0].File != "-k" {
		t.Errorf("a pattern for a topic that is not there: %v", err)
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	dir := workspace(t, "-- convtools.toml --\n-- in/deep/x --\n")
	f := knowledge.Family(host(""))
	for from, want := range map[string]string{dir: dir, filepath.Join(dir, "in", "deep"): dir, filepath.Join(dir, "nothing"): "", t.TempDir(): ""} {
		if root, err := f.Project(from); root != want || (err == nil) != (want != "") {
			t.Errorf("the project of %s is %q, %v; want %q", from, root, err, want)
		}
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	const fix = "convtools knowledge check"
	for _, tt := range []struct {
		name, files string
		want        toolset.Check
	}{
		{"nothing", "-- convtools.toml --\n", toolset.Check{Status: toolset.Off, Detail: "no topic is configured"}},
		{"a topic", "-- convtools.toml --\n[kb.topic.a]\nsubjects = \"kb\"\n-- kb/x --\nX\n", toolset.Check{Status: toolset.OK, Detail: "1 topic, 1 subject"}},
		{"a topic without directory", "-- convtools.toml --\n[kb.topic.a]\nsubjects = \"kb\"\n", toolset.Check{Status: toolset.Problem, Detail: "topic \"a\" cannot be learned: its directory kb does not exist (it is set at convtools.toml:2:1); create the directory, or correct subjects", Fix: fix}},
		{"errors", "-- convtools.toml --\n[kb.topic.a]\n[kb.topic.b]\n", toolset.Check{Status: toolset.Problem, Detail: `nothing can be learned: convtools.toml:1:11: topic "a" has no subjects; add subjects = ".jp/kb/a", the directory of its files relative to the workspace; convtools.toml:2:11: topic "b" has no subjects; add subjects = ".jp/kb/b", the directory of its files relative to the workspace`, Fix: fix}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.Name = "knowledge"
			if diff := cmp.Diff([]toolset.Check{tt.want}, knowledge.Family(host(workspace(t, tt.files))).Checks(t.Context())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	gone := knowledge.Family(host(filepath.Join(t.TempDir(), "gone"))).Checks(t.Context())
	if gone[0].Status != toolset.Off {
		t.Errorf("a directory that does not exist: %+v", gone)
	}
}
