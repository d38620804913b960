package knowledge

import (
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/config"
)

func seeds() []string {
	return []string{
		"",
		"\ufeff[kb.topic.p]\r\nsubjects = 'p'\r\n",
		"\xff\xfe[\x00",
		"kb = { topic = { 'q' = { subjects = 'é' }, p = {\n  disabled = [ \"x\", # no\n 'y' ], subjects = \"s\" } } }\n",
		"[kb.topic.p]\nenable = false\ntitle = \"\"\"a\\\n \"\" b\"\"\"\"\"\nsubjects = './x//y'\nlearned = ['''a''', \"b\\e\\x41\\u00e9\", 'b']\n",
		"[kb]\ntopic.a.subjects = 'x'\n\"topic\".b = {subjects='y'}\n[kb.topic.c]\nsubjects = 'z'\n",
		"[[kb.topic.p]]\n[[kb.topic.p]]\nsubjects = 1979-05-27 07:32:00\n",
		"[kb.topic.p]\nsubjects = '../x'\nlearned = [[1, [2]], {a = [{b = 1}]}, '']\n",
		"[kb.topic.'a b']\n\"\\e\\x1b\\\\e\" = 0x1F\n'' = nan\n",
		"[topic.p]\n[assistant.kb]\n[kb.p]\n[kb.topic.a.b]\n",
		"a = \"unterminated\n[kb",
		"x = " + strings.Repeat("[", 50) + strings.Repeat("]", 50),
	}
}

// Whatever a file holds, Load says what is wrong with it, or says what a decoder
// that fills a struct says.
func FuzzLoad(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, src string) {
		if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
		is, err := load(dir, nil, []string{"p/added/**"})
		var e *config.Error
		switch {
		case errors.As(err, &e):
			checkDiagnostics(t, src, e.Problems)
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("the error has characters that cannot be seen: %q", err)
			}
		case err != nil:
			t.Fatalf("not an *config.Error: %v", err)
		default:
			checkDiagnostics(t, src, is.problems())
			if is.broken() == nil {
				checkTopics(t, src, flat(is.usable))
			}
		}
	})
}

func checkDiagnostics(t *testing.T, src string, list []config.Problem) {
	t.Helper()
	for _, d := range list {
		if d.Rule == "" || d.Message == "" || strings.Contains(d.Message, "\n") {
			t.Errorf("not a diagnostic: %+v", d)
		}
		checkPlace(t, src, Position{File: d.File, Span: d.Span})
	}
}

func checkPlace(t *testing.T, src string, at Position) {
	t.Helper()
	lines := strings.Split(strings.TrimPrefix(src, "\ufeff"), "\n")
	if at.Span.Line == 0 {
		return
	}
	if at.File != "convtools.toml" || at.Span.Line > len(lines) || at.Span.Col < 1 || at.Span.Col > utf8.RuneCountInString(lines[at.Span.Line-1])+1 {
		t.Errorf("%s is no place in %q", at.Place(), src)
	}
}

func checkTopics(t *testing.T, src string, got []flatTopic) {
	t.Helper()
	var want struct {
		KB struct {
			Topic map[string]struct {
				Enable                           *bool
				Title, Introduction, Description string
				Subjects                         string
				Learned, Disabled                []string
			}
		}
	}
	if _, err := toml.Decode(strings.TrimPrefix(src, "\ufeff"), &want); err != nil {
		t.Fatalf("what Load accepts is no TOML: %v", err)
	}
	if len(got) != len(want.KB.Topic) {
		t.Errorf("%d topics, want %d", len(got), len(want.KB.Topic))
	}
	for _, got := range got {
		w := want.KB.Topic[got.ID]
		if got.ID == "p" {
			w.Learned = append(w.Learned, "added/**")
		}
		wanted := flatTopic{
			ID: got.ID, Enabled: w.Enable == nil || *w.Enable, Title: w.Title, Introduction: w.Introduction,
			Description: w.Description, Subjects: path.Clean(w.Subjects), Learned: once(w.Learned), Disabled: once(w.Disabled),
		}
		if diff := cmp.Diff(wanted, got, withoutPlaces(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("topic %s of %q (-want +got):\n%s", got.ID, src, diff)
		}
		if s := got.Subjects; !filepath.IsLocal(s) || strings.ContainsAny(s, "\\\x00\n") {
			t.Errorf("subjects %q are not inside the root", s)
		}
		if len(got.PatternAt) != len(got.Learned)+len(got.Disabled) {
			t.Errorf("not every pattern has a place: %+v", got)
		}
		for _, at := range slices.AppendSeq([]Position{got.Defined, got.SubjectsAt}, maps.Values(got.PatternAt)) {
			checkPlace(t, src, at)
		}
	}
}

func once(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
