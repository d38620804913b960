package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

// Sentences are in the record, as a reader of the files finds them that is not
// convtools, and in one conversation only.
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

func TestQuestionsRefused(t *testing.T) {
	t.Parallel()
	grep := call{Grep: map[string]any{"pattern": "x"}}
	for _, q := range []question{
		{Kind: "k", Calls: []call{grep}},
		{Asked: "a", Calls: []call{grep}},
		{Asked: "a", Kind: "k"},
		{Asked: "a", Kind: "k", Calls: []call{{At: "somewhere"}}},
		{Asked: "a", Kind: "k", Calls: []call{{Grep: grep.Grep, Read: map[string]any{}}}},
		{Asked: "a", Kind: "k", Calls: []call{grep}, Answers: []sentence{{Says: "x"}}},
		{Asked: "a", Kind: "k", Calls: []call{grep}, Answers: []sentence{{In: "x"}}},
		{Asked: "a", Kind: "k", Calls: []call{grep}, Answers: []sentence{{In: "x", Says: strings.Repeat("潮", maxSentence+1)}}},
	} {
		if err := q.check(); err == nil {
			t.Errorf("%+v is not refused", q)
		}
	}
	whole := question{Asked: "a", Kind: "k", Calls: []call{grep}, Answers: []sentence{{In: "x", Says: strings.Repeat("潮", maxSentence)}}}
	if err := whole.check(); err != nil {
		t.Errorf("%+v is refused: %v", whole, err)
	}
}

// Every question about the bundled sample is answered; the workspaces that are
// not bundled are skipped, visibly.
func TestSample(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds convtools")
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-data", t.TempDir()}, &stdout, &stderr); code != 0 {
		t.Errorf("exit code %d\n%s\n%s", code, &stderr, &stdout)
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
	r := report{sets: []askedSet{{asked: []asked{
		{question: question{Asked: "Where is the lamp?"}, calls: 1, chars: 10, found: true},
		{question: question{Asked: "Where is the wick?"}, calls: 2, chars: 50, why: "never in view"},
	}}}}
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	if !r.failed() {
		t.Error("the report did not fail")
	}
	for _, want := range []string{"failed: question 2, \"Where is the wick?\": never in view", "1 of 2", "all MISSED"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing from\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "question 1,") {
		t.Errorf("a question that was answered is listed:\n%s", &b)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"-h"}, 0, "usage: recall", ""},
		{[]string{"-nope"}, 2, "", "usage: recall"},
		{[]string{"more"}, 2, "", "takes no arguments"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), test.args, &stdout, &stderr)
		if code != test.code || !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) {
			t.Errorf("recall %v: code %d, stdout %q, stderr %q", test.args, code, &stdout, &stderr)
		}
	}
}
