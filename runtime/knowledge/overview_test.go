package knowledge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

func TestTopicsShowsEverything(t *testing.T) {
	t.Parallel()
	dir := workspace(t, `
-- convtools.toml --
[kb.topic.project]
title = "Notes"
introduction = "About."
subjects = "kb/project"
learned = ["a"]
disabled = ["b"]
[kb.topic.off]
subjects = "kb/off"
enable = false
[kb.topic.gone]
subjects = "kb/gone"
-- kb/project/a.md --
12345678
-- kb/project/b.md --
1
-- kb/project/.c.md --
1
-- kb/project/d.gif --
\binary
-- kb/project/e/SKILL.md --
---
description: Does E.
---
`)
	b := open(t, dir, knowledge.Options{})
	unseen := cmpopts.IgnoreFields(subjects.Subject{}, "PathSlug", "Ext")
	topics, err := b.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []knowledge.Topic{
		{ID: "project", Title: "Notes", Introduction: "About.", Dir: "kb/project", Subjects: []*subjects.Subject{
			{Name: "a", Slug: "a", Path: "a.md", Size: 9, Tokens: 3, Learned: true},
			{Name: "b", Slug: "b", Path: "b.md", Size: 2, Tokens: 1, Disabled: true},
			{Name: "c", Slug: "c", Path: ".c.md", Size: 2, Tokens: 1, Hidden: true},
			{Name: "d", Slug: "d", Path: "d.gif", Size: 8, Kind: subjects.Kind{Binary: true}},
			{Name: "e", Slug: "e", Path: "e/SKILL.md", Description: "Does E.", Size: 29, Tokens: 8, Skill: true},
		}},
		{ID: "off", Disabled: true, Dir: "kb/off", Subjects: []*subjects.Subject{}},
		{ID: "gone", Dir: "kb/gone", Subjects: []*subjects.Subject{}, Problem: "its directory kb/gone does not exist (it is set at convtools.toml:11:1); create the directory, or correct subjects"},
	}
	if diff := cmp.Diff(want, topics, unseen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, asked := range []struct {
		name string
		want knowledge.Topic
	}{{"project", want[0]}, {"NOTES", want[0]}, {"off", want[1]}, {"gone", want[2]}} {
		got, err := b.Topic(t.Context(), asked.name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(asked.want, got, unseen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", asked.name, diff)
		}
	}
	if _, err := b.Topic(t.Context(), "nothing"); err == nil {
		t.Error("a topic that does not exist is described")
	}
}

func TestTopicsOfNoWorkspace(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir(), knowledge.Options{})
	topics, err := b.Topics(t.Context())
	if err != nil || len(topics) != 0 || topics == nil {
		t.Errorf("got %v, %v; want an empty list", topics, err)
	}
	if b.Root() != "" {
		t.Errorf("got root %q", b.Root())
	}
}
