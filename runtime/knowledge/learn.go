package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
	"github.com/convtools/convtools/runtime/knowledge/match"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

const (
	// maxAnswer is how many bytes an answer has at most: no less than the
	// largest file that is read.
	maxAnswer = subjects.MaxSize
	// maxRemarks is how many bytes of an answer are kept free for remarks on what
	// it does not show, where it shows several subjects.
	maxRemarks = 64 << 10
	// maxRead is after how many bytes of files a call reads no further one: texts may
	// become longer than an answer when they are made fit to be shown.
	maxRead = 4 * maxAnswer
)

// Learn answers the learn tool: with what a topic has to offer, or, where
// patterns are given, with the subjects they stand for. A topic is asked for by
// its id or its title. Blank patterns count as none. The answer carries notes.
//
// What a caller can put right is a [contract.Error] that says so.
func (b *Base) Learn(ctx context.Context, topicName string, patterns, notes []string) (string, error) {
	config, err := b.lookup(topicName)
	if err != nil {
		return "", err
	}
	var r remarks
	for _, note := range notes {
		r.note(note)
	}
	patterns = nonBlank(patterns)
	if len(patterns) > 0 {
		return b.load(ctx, config, patterns, b.injected, &r)
	}
	t, err := b.scan(ctx, config)
	if err != nil {
		return "", forCaller(err)
	}
	defer t.close()
	return t.list(ctx, b.injected, &r)
}

func nonBlank(patterns []string) []string {
	var kept []string
	for _, p := range patterns {
		if strings.TrimSpace(p) != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

// load answers with the subjects of a topic that patterns stand for.
func (b *Base) load(ctx context.Context, config *kbconfig.Topic, patterns []string, injected bool, r *remarks) (string, error) {
	t, err := b.scan(ctx, config)
	if err != nil {
		return "", forCaller(err)
	}
	defer t.close()
	return t.load(ctx, patterns, injected, r)
}

func (t *topic) load(ctx context.Context, patterns []string, injected bool, r *remarks) (string, error) {
	if len(patterns) > match.MaxPatterns {
		return "", contract.Fixable(fmt.Sprintf("%d subjects are too many for one call: give at most %d, or a pattern such as \"folder/**\".", len(patterns), match.MaxPatterns))
	}
	found, err := t.set.Resolve(ctx, patterns, injected)
	if err != nil {
		return "", err
	}
	if len(found.Hits) == 0 && len(found.AlreadyLearned) == 0 {
		return "", t.noMatch(found.Missed)
	}
	shown, err := t.read(ctx, found.Hits, found.Literal, r)
	if err != nil {
		return "", err
	}
	if err := t.alreadyLearned(ctx, found.AlreadyLearned, r); err != nil {
		return "", err
	}
	r.missed(found.Missed)
	r.skills(t, slices.Concat(found.Hits, found.AlreadyLearned), maxAnswer-len(shown)-len("\n\n")-len(r.String()))
	if r.empty() {
		return shown, nil
	}
	if shown != "" {
		shown += "\n\n"
	}
	return shown + r.String(), nil
}

// alreadyLearned remarks on subjects that are in the system prompt, and on those
// that are not because they could not be put there.
func (t *topic) alreadyLearned(ctx context.Context, indexes []int, r *remarks) error {
	asked := t.subjects(indexes)
	facts, err := t.tree.Facts(ctx, asked)
	if err != nil {
		return err
	}
	for n, s := range asked {
		c := subjects.Content{Binary: facts[n].Binary, TooLarge: facts[n].TooLarge}
		switch {
		case facts[n].Err != nil:
			r.unreadable(s.Name, facts[n].Err)
		case c.Binary || c.TooLarge:
			show(s, c, r)
		default:
			r.subject(s.Name, " is already in your system prompt", " are already in your system prompt")
		}
	}
	return nil
}

// read returns the text of subjects, of a single one bare and otherwise each in
// its element, and remarks on those it cannot show.
func (t *topic) read(ctx context.Context, hits []int, bare bool, r *remarks) (string, error) {
	const room = maxAnswer - maxRemarks
	var b strings.Builder
	var failed error
	unread := 0
	left := int64(maxRead)
	for n, i := range hits {
		s := &t.tree.Subjects[i]
		content, err := t.tree.Read(ctx, s)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			unread++
			failed = err
			r.unreadable(s.Name, err)
			continue
		}
		text, ok := show(s, content, r)
		if !ok {
			continue
		}
		block := element(s, text)
		switch {
		case len(text) > maxAnswer || bare && !r.empty() && len(text)+len("\n\n")+len(r.String()) > maxAnswer:
			tooLong := " cannot be loaded: what is to be shown of it is over the limit of " + largest()
			r.subject(s.Name, tooLong, tooLong)
		case bare:
			return text, nil
		case len(block) > room:
			r.subject(s.Name, " fits only into an answer of its own: load it alone", " fit only into answers of their own: load each alone")
		case b.Len()+len("\n\n")+len(block) > room:
			r.leftOut(t.ID, t.names(hits[n:]))
			return b.String(), nil
		default:
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			b.WriteString(block)
		}
		// What is not shown in the end was read all the same.
		if left -= content.Size; left < 0 && n+1 < len(hits) {
			r.leftOut(t.ID, t.names(hits[n+1:]))
			return b.String(), nil
		}
	}
	if unread > 0 && unread == len(hits) {
		return "", &contract.Error{
			Message: fmt.Sprintf("Nothing of this could be read. The last was %s: %s.", quoteName(t.tree.Subjects[hits[unread-1]].Name), cause(failed)),
			Err:     failed,
		}
	}
	return b.String(), nil
}

// show returns the text that stands for a subject, or remarks why there is none.
func show(s *subjects.Subject, c subjects.Content, r *remarks) (string, bool) {
	switch {
	case c.TooLarge:
		over := "over the limit of " + largest()
		r.subject(s.Name, " is "+over+" and was skipped", " are "+over+" and were skipped")
		return "", false
	case c.Binary:
		r.subject(s.Name, " is binary and was skipped", " are binary and were skipped")
		return "", false
	case c.Empty:
		return "(subject " + quoteName(s.Name) + " is empty)", true
	}
	for _, note := range c.Notes {
		remark := ": " + strings.TrimSuffix(oneLine(note), ".")
		r.subject(s.Name, remark, remark)
	}
	return c.Text, true
}

// element wraps a subject's text so that it can be told from others, and cannot
// pretend to end where it does not.
func element(s *subjects.Subject, text string) string {
	return "<subject " + quoteName(s.Name) + ">\n" + subjects.CloseTags(text) + "\n</subject>"
}

// noMatch is the error for patterns that all match nothing.
func (t *topic) noMatch(missed []match.Miss) error {
	var b strings.Builder
	if len(missed) == 1 {
		m := missed[0]
		if m.Reason != "" {
			fmt.Fprintf(&b, "%s %s.", text.Quote(m.Pattern), m.Reason)
		} else {
			fmt.Fprintf(&b, "No subject of topic %q matches %s.", t.ID, text.Quote(m.Pattern))
		}
		if m.Near != "" {
			fmt.Fprintf(&b, " Did you mean %s?", quoteName(m.Near))
		}
		b.WriteByte(' ')
	} else {
		fmt.Fprintf(&b, "No subject of topic %q matches:\n", t.ID)
		for _, m := range missed {
			fmt.Fprintf(&b, "- %s", text.Quote(m.Pattern))
			if m.Reason != "" {
				b.WriteString(": it " + m.Reason)
			}
			if m.Near != "" {
				fmt.Fprintf(&b, " (did you mean %s?)", quoteName(m.Near))
			}
			b.WriteByte('\n')
		}
	}
	return missing(b.String(), fmt.Sprintf("Call learn with topic %q alone to list its subjects.", t.ID), t.ID)
}

// missing is the error for a subject that there is not. Behind the problem, a caller
// reads how to go on, and a person how to see the subjects of a topic.
func missing(problem, goOn, topic string) error {
	return &contract.Error{Message: problem + goOn, Detail: problem + "See its subjects with: convtools knowledge ls " + topic, Caller: true}
}

func (t *topic) subjects(indexes []int) []*subjects.Subject {
	of := make([]*subjects.Subject, len(indexes))
	for n, i := range indexes {
		of[n] = &t.tree.Subjects[i]
	}
	return of
}

func (t *topic) names(indexes []int) []string {
	names := make([]string, len(indexes))
	for n, i := range indexes {
		names[n] = t.tree.Subjects[i].Name
	}
	return names
}

// cause returns what went wrong without what it went wrong with.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return oneLine(err.Error())
		}
		err = inner
	}
}
