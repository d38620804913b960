package knowledge_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge"
)

var update = flag.Bool("update", false, "write the golden files anew")

// call begins the names of those files of an archive that are calls, with the
// expected answer as their content. All others are files of the workspace.
const call = "> "

// TestGolden makes the calls of each archive in testdata, in the workspace that
// is in it:
//
//	> learn TOPIC [PATTERN...]
//	> show TOPIC PATTERN
//	> section
//	> check
//	> describe LIMIT
//
// "injected" before them says that the host puts the section into its prompt, and
// "note" that the answer has to carry one. What should be an error begins with
// "error: ".
func TestGolden(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives in testdata", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := write(t, archive.Files)
			got := &txtar.Archive{Comment: archive.Comment}
			for _, f := range archive.Files {
				if line, ok := strings.CutPrefix(f.Name, call); ok {
					f.Data = []byte(answer(t, dir, strings.Fields(line)) + "\n")
				}
				got.Files = append(got.Files, f)
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(txtar.Format(archive)), "\n"), strings.Split(string(txtar.Format(got)), "\n")); diff != "" {
				t.Errorf("the answers differ; look at them, and if they are right, write them with -update (-want +got):\n%s", diff)
			}
		})
	}
}

// write makes a workspace of files. A file whose content is the one line
// "\binary" has a NUL byte, of "\empty" nothing, of "\latin1" text that is not
// UTF-8; of "\tokens N" about as many tokens.
func write(t *testing.T, files []txtar.File) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		if strings.HasPrefix(f.Name, call) {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		data := f.Data
		var n int
		switch text := strings.TrimSpace(string(data)); {
		case text == `\binary`:
			data = []byte("GIF89a\x00\x01")
		case text == `\empty`:
			data = nil
		case text == `\latin1`:
			data = []byte("caf\xe9\n")
		case strings.HasPrefix(text, `\tokens `):
			if _, err := fmt.Sscanf(text, `\tokens %d`, &n); err != nil {
				t.Fatal(err)
			}
			data = []byte(strings.Repeat("abc\n", n))
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// workspace makes a workspace from the text of an archive.
func workspace(t *testing.T, archive string) string {
	t.Helper()
	return write(t, txtar.Parse([]byte(archive)).Files)
}

func open(t *testing.T, dir string, opts knowledge.Options) *knowledge.Base {
	t.Helper()
	b, err := knowledge.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// answer makes a call and returns what came of it, errors too.
func answer(t *testing.T, dir string, words []string) string {
	t.Helper()
	var opts knowledge.Options
	var notes []string
	for {
		switch words[0] {
		case "injected":
			opts.Injected = true
		case "note":
			notes = []string{"topic was given as Topic."}
		default:
			b, err := knowledge.Open(dir, opts)
			if err != nil {
				return "error: " + err.Error()
			}
			text, err := dispatch(t, b, words, notes)
			if err != nil {
				return "error: " + err.Error()
			}
			return text
		}
		words = words[1:]
	}
}

func dispatch(t *testing.T, b *knowledge.Base, words, notes []string) (string, error) {
	t.Helper()
	ctx := t.Context()
	var out []string
	switch words[0] {
	case "learn":
		return b.Learn(ctx, words[1], words[2:], notes)
	case "show":
		return b.Learn(ctx, words[1], words[2:3], nil)
	case "section":
		text, warnings, err := b.Section(ctx)
		out = append(out, text)
		for _, w := range warnings {
			out = append(out, "warning: "+w)
		}
		return strings.Join(out, "\n"), err
	case "check":
		findings, err := b.Check(ctx)
		for _, f := range findings {
			out = append(out, f.String())
			if f.Hint != "" {
				out = append(out, "  hint: "+f.Hint)
			}
		}
		return strings.Join(out, "\n"), err
	case "describe":
		var limit int
		if _, err := fmt.Sscan(words[1], &limit); err != nil {
			t.Fatal(err)
		}
		tool, ok := b.Describe(ctx, learnTool(), limit)
		if !ok {
			return strings.Join(append(out, "nothing to learn"), "\n"), nil
		}
		return strings.Join(append(out, tool.Description), "\n"), nil
	}
	t.Fatalf("unknown call %q", words)
	return "", nil
}

func learnTool() contract.Tool {
	return contract.Tool{Name: "learn", Summary: "Learn what is known", Description: "Files.", InputSchema: "{}", Parameters: []contract.Parameter{{Name: "topic"}, {Name: "subjects"}}}
}

// callerError returns the message of an error that the caller can put right.
func callerError(t *testing.T, err error) string {
	t.Helper()
	var e *contract.Error
	if !errors.As(err, &e) || !e.Caller {
		t.Fatalf("got error %v, want one that the caller can put right", err)
	}
	return e.Message
}
