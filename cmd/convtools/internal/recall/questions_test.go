package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

// Every sentence that answers a question is in one line of an event of its
// conversation, as [decode] reads the files without convtools.
func TestSentences(t *testing.T) {
	t.Parallel()
	sets, err := loadQuestions()
	if err != nil {
		t.Fatal(err)
	}
	root, err := repository.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		t.Run(set.Name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, set.Workspace)
			if set.Data != "" {
				dir = filepath.Join(root, "..", "shared", "data", set.Data)
			}
			if _, err := os.Stat(dir); err != nil {
				t.Skipf("there is no %s", dir)
			}
			conversations, err := decode(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range set.Questions {
				for _, s := range q.Answers {
					i := slices.IndexFunc(conversations, func(c recorded) bool { return c.id == s.In })
					if i < 0 {
						t.Errorf("%q: there is no %s", q.Asked, s.In)
						continue
					}
					if !slices.ContainsFunc(conversations[i].events, func(e event) bool { return hasLine(e.text, s.Says) }) {
						t.Errorf("%q: no line of %s says %q", q.Asked, s.In, s.Says)
					}
				}
			}
		})
	}
}

func hasLine(text, part string) bool {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}

// Every question about the bundled sample is answered; the workspaces that are
// not bundled are skipped, visibly.
func TestSample(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds convtools")
	}
	var stdout bytes.Buffer
	if err := measure(t.Context(), options{data: t.TempDir()}, &stdout); err != nil {
		t.Errorf("%v\n%s", err, &stdout)
	}
	for _, want := range []string{"What became of the idea to use a WebSocket?", "sample: questions answered", " questions: there is no "} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is missing from\n%s", want, &stdout)
		}
	}
}

// A question that no answer shows fails, with what was never in view.
func TestFailedQuestion(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	err := report(&b, []questionSet{{Questions: []question{{Asked: "Where is the lamp?"}, {Asked: "Where is the wick?", failure: errors.New("never in view")}}}}, 0)
	if err == nil || !strings.HasPrefix(err.Error(), `question 2, "Where is the wick?": never in view`) || strings.Contains(err.Error(), "question 1") {
		t.Errorf("the error is %v", err)
	}
	for _, want := range []string{"1 of 2", "all MISSED"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing from\n%s", want, &b)
		}
	}
}

// Without questions there are figures of none.
func TestNoQuestions(t *testing.T) {
	t.Parallel()
	c := corpus{}
	c.Dir = t.TempDir()
	labels := filepath.Join(c.Dir, "labels.json")
	if err := errors.Join(os.WriteFile(labels, []byte("[]"), 0o600), os.MkdirAll(c.Folder(), 0o700)); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	new(score).write(&b, "peer")
	if err := c.measureBlame(t.Context(), "convtools", labels, &b); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"peer", "0.0 ms", "blame: 0 lines that commits added: right session first 0.0%, median 0 ms, slowest 0 ms"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing from\n%s", want, &b)
		}
	}
}
