package knowledge

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
)

// maxTopicList is how many characters of topics an error lists.
const maxTopicList = 16_000

// lookup finds a topic by its id, or else by its title, whose case does not
// count. The error tells which topics there are.
func (b *Base) lookup(asked string) (*kbconfig.Topic, error) {
	asked = strings.TrimSpace(asked)
	if t := b.byID(asked); t != nil {
		return t, nil
	}
	topics := b.enabled()
	var titled []*kbconfig.Topic
	for _, t := range topics {
		if asked != "" && strings.EqualFold(oneLine(t.Title), oneLine(asked)) {
			titled = append(titled, t)
		}
	}
	switch len(titled) {
	case 0:
		return nil, b.unknownTopic(asked, topics)
	case 1:
		return titled[0], nil
	}
	ids := make([]string, len(titled))
	for i, t := range titled {
		ids[i] = t.ID
	}
	return nil, contract.Fixable(fmt.Sprintf("%s is the title of %d topics. Ask for one of them by its id: %s.", text.Quote(asked), len(ids), listed(ids)))
}

// TopicIDs returns the ids of the topics there are, in the order of the
// configuration.
func (b *Base) TopicIDs() []string {
	var ids []string
	for _, t := range b.enabled() {
		ids = append(ids, t.ID)
	}
	return ids
}

func (b *Base) unknownTopic(asked string, topics []*kbconfig.Topic) error {
	if broken := b.config.Broken[asked]; broken != nil {
		return &contract.Error{Message: fmt.Sprintf("Topic %q cannot be learned until the user has corrected its configuration: %s", asked, broken), Err: broken}
	}
	if len(topics) == 0 {
		if b.config.Root == "" {
			return contract.Fixable("There is nothing to learn: this directory is in no workspace, which would have .jp or convtools.toml in it.")
		}
		return contract.Fixable("There is nothing to learn: no topic is configured and enabled. A topic is a table [kb.topic.ID] in the workspace's convtools.toml.")
	}
	var known []string
	byName := map[string]string{}
	for _, t := range topics {
		known = append(known, t.ID)
		byName[t.ID] = t.ID
	}
	for _, t := range topics {
		if title := oneLine(t.Title); title != "" && byName[title] == "" {
			known = append(known, title)
			byName[title] = t.ID
		}
	}
	if id, subject, ok := strings.Cut(strings.TrimPrefix(asked, "kb://"), "/"); ok && byName[id] == id && id != "" {
		if plain, err := url.PathUnescape(subject); err == nil && strings.HasPrefix(asked, "kb://") {
			subject = plain
		}
		goOn := fmt.Sprintf("Call learn with topic %q", id)
		if subject != "" {
			goOn += " and subjects " + text.Quote(subject)
		}
		return missing(text.Quote(asked)+" is a subject of a topic, and no topic. ", goOn+".", id)
	}
	message := "There is no topic " + text.Quote(asked) + "."
	if near := byName[near.Name(asked, known)]; near != "" {
		message += fmt.Sprintf(" Did you mean %q?", near)
	}
	return contract.Fixable(message + " Topics:\n" + strings.Join(menu(topics, withTitle, maxTopicList), "\n"))
}

// menu lists topics in up to limit characters, and counts the others.
func menu(topics []*kbconfig.Topic, d detail, limit int) []string {
	var lines []string
	for i, t := range topics {
		line := menuLine(t, d)
		if limit -= utf8.RuneCountInString(line) + 1; limit < 0 {
			return append(lines, fmt.Sprintf("- … and %s more", text.Number(len(topics)-i)))
		}
		lines = append(lines, line)
	}
	return lines
}
