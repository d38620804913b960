package kbconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/workspace"
	"github.com/convtools/convtools/runtime/knowledge/match"
)

// flags adds the values of -k to what topics have learned. Topics are named by id
// only: an id has no slash, and a title may.
func (l *loader) flags(topics []Topic, values []string) {
	at := Position{File: "-k"}
	if len(values) > 0 && l.Root == "" {
		l.add("kb", at, RuleFlagTopic, "run this in a workspace, at or below a directory that has .jp or convtools.toml", "there is no workspace, and so no topic")
		return
	}
	for _, value := range values {
		id, pattern, slash := strings.Cut(value, "/")
		i := slices.IndexFunc(topics, func(t Topic) bool { return t.ID == id })
		switch {
		case strings.TrimSpace(id) == "":
			l.add("kb", at, RuleFlag, known(topics), "%s names no topic; TOPIC/GLOB is expected", text.Quote(value))
		case !slash || strings.TrimSpace(pattern) == "":
			l.add("kb", at, RuleFlag, wholeTopic(id, topics), "%s does not say which subjects of the topic; TOPIC/GLOB is expected", text.Quote(value))
		case i < 0 && l.Wrong("kb.topic."+id) != nil:
		case i < 0:
			l.add("kb", at, RuleFlagTopic, didYouMean(id, topics), "there is no topic %s", text.Quote(id))
		case !topics[i].Enabled:
			l.add("kb", at, RuleFlagTopic, "remove enable = false from it, or leave the flag out", "topic %s, which is defined at %s, is disabled", text.Quote(id), topics[i].Defined)
		default:
			l.learn(&topics[i], pattern, at)
		}
	}
}

// wholeTopic shows the flag for all subjects of the topic that id stands for.
func wholeTopic(id string, topics []Topic) string {
	if near := near.Name(id, enabled(topics)); near != "" {
		return fmt.Sprintf("for all of them write -k '%s/**'", near)
	}
	return known(topics)
}

func didYouMean(id string, topics []Topic) string {
	if near := near.Name(id, enabled(topics)); near != "" {
		return fmt.Sprintf("did you mean %s? %s", text.Quote(near), known(topics))
	}
	return known(topics)
}

// known lists the ids there are, as many as somebody would read.
func known(topics []Topic) string {
	const most = 20
	ids := enabled(topics)
	switch {
	case len(ids) == 0:
		return "no topic is configured; add [kb.topic.<id>] to " + workspace.ConfigFile
	case len(ids) > most:
		return fmt.Sprintf("topics: %s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return "topics: " + strings.Join(ids, ", ")
}

func enabled(topics []Topic) []string {
	var ids []string
	for _, t := range topics {
		if t.Enabled {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// learn adds a pattern to what a topic has learned.
func (l *loader) learn(t *Topic, pattern string, at Position) {
	problem, hint := patternProblem(pattern)
	patterns := append(slices.Clip(t.Learned), pattern)
	switch {
	case problem != "":
		l.add("kb", at, RulePattern, hint, "%s in learned of topic %s %s", text.Quote(pattern), text.Quote(t.ID), problem)
	case slices.Contains(t.Learned, pattern):
	case len(patterns) > match.MaxPatterns || match.TooMuch(t.ID, patterns) >= 0:
		l.add("kb", at, RuleLimit, "one pattern can be for many subjects: dir/** is for all below dir", "learned of topic %s has too many patterns", text.Quote(t.ID))
	default:
		t.Learned, t.LearnedAt = patterns, append(slices.Clip(t.LearnedAt), at)
	}
}
