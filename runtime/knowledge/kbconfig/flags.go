package kbconfig

import (
	"fmt"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
)

// flags adds the values of -k to what topics have learned. Topics are named by id
// only: an id has no slash, and a title may.
func (l *loader) flags(values []string, workspace bool) {
	at := Position{File: "-k"}
	if len(values) > 0 && !workspace {
		l.error(at, RuleFlagTopic, "run this in a workspace, at or below a directory that has .jp or convtools.toml", "there is no workspace, and so no topic")
		return
	}
	for _, value := range values {
		id, pattern, slash := strings.Cut(value, "/")
		topic := l.topic(id)
		switch {
		case strings.TrimSpace(id) == "":
			l.error(at, RuleFlag, l.known(), "%s names no topic; TOPIC/GLOB is expected", text.Quote(value))
		case !slash || strings.TrimSpace(pattern) == "":
			l.error(at, RuleFlag, l.wholeTopic(id), "%s does not say which subjects of the topic; TOPIC/GLOB is expected", text.Quote(value))
		case topic == nil && l.incomplete:
		case topic == nil:
			l.error(at, RuleFlagTopic, l.didYouMean(id), "there is no topic %s", text.Quote(id))
		case !topic.Enabled:
			l.error(at, RuleFlagTopic, "remove enable = false from it, or leave the flag out", "topic %s, which is defined at %s, is disabled", text.Quote(id), topic.Defined)
		default:
			l.addPattern(&topic.Learned, &topic.LearnedAt, pattern, at, "learned", id)
		}
	}
}

// wholeTopic shows the flag for all subjects of the topic that id stands for.
func (l *loader) wholeTopic(id string) string {
	if near := near.Name(id, l.enabled()); near != "" {
		return fmt.Sprintf("for all of them write -k '%s/**'", near)
	}
	return l.known()
}

func (l *loader) didYouMean(id string) string {
	if near := near.Name(id, l.enabled()); near != "" {
		return fmt.Sprintf("did you mean %s? %s", text.Quote(near), l.known())
	}
	return l.known()
}

// known lists the ids there are, as many as somebody would read.
func (l *loader) known() string {
	const most = 20
	ids := l.enabled()
	switch {
	case len(ids) == 0:
		return "no topic is configured; add [kb.topic.<id>] to " + convtoolsFile
	case len(ids) > most:
		return fmt.Sprintf("topics: %s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return "topics: " + strings.Join(ids, ", ")
}

func (l *loader) enabled() []string {
	var ids []string
	for _, t := range l.topics {
		if t.Enabled {
			ids = append(ids, t.ID)
		}
	}
	return ids
}
