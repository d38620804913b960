package knowledge_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/toolset"
)

const attachable = `
-- convtools.toml --
[kb.topic.project]
title = "Notes"
subjects = "kb/project"
disabled = ["off"]
learned = ["b"]
[kb.topic.code]
subjects = "kb/code"
[kb.topic.gone]
subjects = "kb/gone"
-- kb/project/a.md --
A.
-- kb/project/b.txt --
B.
-- kb/project/off.md --
Off.
-- kb/project/.hidden.md --
Hidden.
-- kb/project/logo.gif --
\binary
-- kb/project/Skill/SKILL.md --
---
description: Does it.
---
-- kb/code/twice.md --
One.
-- kb/code/twice.toml --
two = 2
-- kb/code/latin.md --
\latin1
`

func TestResources(t *testing.T) {
	t.Parallel()
	h := host(workspace(t, attachable))
	r := knowledge.Family(h).Resources[0]
	got, _, err := r.List(t.Context(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	want := []toolset.Resource{
		{URI: "kb://code/latin", Name: "code/latin", Title: "code: latin", MIMEType: "text/markdown"},
		{URI: "kb://code/twice.md", Name: "code/twice.md", Title: "code: twice.md", MIMEType: "text/markdown"},
		{URI: "kb://code/twice.toml", Name: "code/twice.toml", Title: "code: twice.toml", MIMEType: "text/markdown"},
		{URI: "kb://project/Skill", Name: "project/Skill", Title: "Notes: Skill", Description: "Does it.", MIMEType: "text/markdown"},
		{URI: "kb://project/a", Name: "project/a", Title: "Notes: a", MIMEType: "text/markdown"},
		{URI: "kb://project/b", Name: "project/b", Title: "Notes: b", MIMEType: "text/plain"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wants(t, h.Stderr.(*bytes.Buffer).String(), `topic "gone" cannot be learned: `)
	for _, listed := range got {
		read, err := r.Read(t.Context(), contract.Context{}, listed.URI)
		if err != nil || read.Text == "" || read.MIMEType != listed.MIMEType {
			t.Errorf("%s reads as %v, %v", listed.URI, read, err)
		}
	}
}

func TestReadResource(t *testing.T) {
	t.Parallel()
	b := open(t, workspace(t, attachable), knowledge.Options{})
	for _, c := range []struct{ name, topic, subject, want string }{
		{"hidden by its slug", "project", "hidden", "Hidden."},
		{"learned", "project", "b", "B."},
		{"several of one slug", "code", "twice", "<subject \"twice.md\">\nOne.\n</subject>\n\n<subject \"twice.toml\">\n```toml\ntwo = 2\n```\n</subject>"},
		{"binary", "project", "logo", "(subject \"logo\": skipped: binary)"},
		{"code in a fence", "code", "twice.toml", "```toml\ntwo = 2\n```"},
		{"not UTF-8", "code", "latin", "caf\ufffd\n\n(subject \"latin\": the file is not valid UTF-8; what could not be decoded is shown as \ufffd)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, _, err := b.ReadResource(t.Context(), c.topic, c.subject)
			if err != nil || text != c.want {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
	for _, c := range []struct{ name, topic, subject string }{
		{"no such subject", "project", "nothing"},
		{"disabled", "project", "off"},
		{"a glob", "project", "a*"},
		{"a path out", "project", "../code/latin.md"},
		{"an absolute path", "project", "/etc/passwd"},
		{"a title", "Notes", "a"},
		{"no such topic", "nothing", "a"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, _, err := b.ReadResource(t.Context(), c.topic, c.subject)
			if text != "" {
				t.Errorf("got %q", text)
			}
			callerError(t, err)
		})
	}
}

// Whoever reads a skill by its address has to find its files too.
func TestReadResourceOfASkill(t *testing.T) {
	t.Parallel()
	b := open(t, workspace(t, "-- convtools.toml --\n[kb.topic.x]\nsubjects = \"kb\"\n-- kb/pdf/SKILL.md --\nRun run.py.\n-- kb/pdf/run.py --\npass\n"), knowledge.Options{})
	text, _, err := b.ReadResource(t.Context(), "x", "pdf")
	want := "Run run.py.\n\n(paths in a skill are relative to its folder: \"pdf\" is in \"kb/pdf\")"
	if err != nil || text != want {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestTopicIDs(t *testing.T) {
	t.Parallel()
	b := open(t, workspace(t, attachable), knowledge.Options{})
	if diff := cmp.Diff([]string{"project", "code", "gone"}, b.TopicIDs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	b := open(t, workspace(t, attachable), knowledge.Options{})
	for prefix, want := range map[string][]string{"": {"project", "code", "gone"}, "NO": {"project"}, "c": {"code"}, "x": nil} {
		if diff := cmp.Diff(want, b.CompleteTopic(t.Context(), prefix)); diff != "" {
			t.Errorf("topics %q (-want +got):\n%s", prefix, diff)
		}
	}
	for _, c := range []struct {
		topic, prefix string
		want          []string
	}{
		{"project", "", []string{"Skill", "a", "b", "logo"}},
		{"project", "sk", []string{"Skill"}},
		{"project", "hid", nil},
		{"project", "off", nil},
		{"notes", "a", []string{"a"}},
		{"code", "tw", []string{"twice.md", "twice.toml"}},
		{"gone", "", nil},
		{"nothing", "", nil},
	} {
		var got []string
		for _, path := range b.CompletePath(t.Context(), c.topic+"/"+c.prefix) {
			got = append(got, strings.TrimPrefix(path, c.topic+"/"))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("subjects of %s %q (-want +got):\n%s", c.topic, c.prefix, diff)
		}
	}
}
