package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// The knowledge base of the lab.
const (
	topics        = "\n\nTopics:\n- notes (**Field notes**): What is known of the gauges."
	gaugesText    = "# Gauges\n\nGauges report every ten minutes."
	northURI      = "kb://notes/stations/north%20shore"
	northText     = "The north shore has two gauges."
	hiddenURI     = "kb://notes/keys"
	hiddenText    = "The key of the shed is at the office."
	knowledgeBase = `[kb.topic.notes]
title = "Field notes"
introduction = "What is known of the gauges."
subjects = "docs/notes"
learned = ["gauges"]
`
)

// writeKnowledge gives the workspace a knowledge base.
func (l *lab) writeKnowledge() error {
	for name, text := range map[string]string{
		"convtools.toml":                  knowledgeBase,
		"docs/notes/gauges.md":            gaugesText + "\n",
		"docs/notes/stations/north shore": northText + "\n",
		"docs/notes/.keys.txt":            hiddenText + "\n",
	} {
		if err := writeFile(filepath.Join(l.workspace, filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	return nil
}

// subjects is what a client does with resources of the knowledge base.
type subjects struct {
	Template   string     `json:"template"`
	Topic      string     `json:"topic"`
	Completion completion `json:"completion"` // of an argument behind the topic
	Read       []string   `json:"read"`
}

func planSubjects() subjects {
	return subjects{
		Template: "kb://{topic}/{slug}", Topic: "notes",
		Completion: completion{Name: "slug", Value: "sta"},
		Read:       []string{northURI, hiddenURI},
	}
}

// seenSubjects is what a client saw of them.
type seenSubjects struct {
	Listed     []string `json:"listed"`
	Completion []string `json:"completion"`
	Texts      []string `json:"texts"`
}

// check returns everything that a client should have seen otherwise.
func (s seenSubjects) check() error {
	var errs []error
	equal := func(what string, got, want []string) {
		if !slices.Equal(got, want) {
			errs = append(errs, fmt.Errorf("%s %q, want %q", what, got, want))
		}
	}
	equal("the resources are", s.Listed, []string{"kb://notes/gauges", northURI})
	equal("the subject completes to", s.Completion, []string{"stations/north shore"})
	equal("subjects read as", s.Texts, []string{northText, hiddenText})
	return errors.Join(errs...)
}
