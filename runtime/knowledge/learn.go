package knowledge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

const (
	// maxAnswer is the most bytes of subjects in an answer: no less than the largest file that is read. The remarks
	// have bounds of their own.
	maxAnswer = subjects.MaxSize
	// maxRead is the number of bytes of files after which a call reads no further file: texts may become longer when
	// they are made visible.
	maxRead = 4 * maxAnswer
)

// Learn answers the learn tool: it lists a topic or, with patterns, loads subjects. A topic is named by its id or its
// title. Blank patterns are ignored. The notes are part of the answer.
//
// The error is a [contract.Error] if the caller can correct the call.
func (b *Base) Learn(ctx context.Context, topicName string, patterns, notes []string) (string, error) {
	var r remarks
	for _, note := range notes {
		r.notes = append(r.notes, "(note: "+oneLine(note)+")")
	}
	config, err := b.lookup(topicName)
	if err != nil {
		return "", err
	}
	t, err := b.open(ctx, config)
	if err != nil {
		return "", err
	}
	defer t.tree.Close()
	patterns = slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return strings.TrimSpace(p) == "" })
	if len(patterns) == 0 {
		return t.list(ctx, b.injected, &r)
	}
	return t.load(ctx, patterns, b.injected, &r)
}

// load returns the subjects that match patterns.
func (t *topic) load(ctx context.Context, patterns []string, injected bool, r *remarks) (string, error) {
	found, err := t.tree.Resolve(patterns, injected)
	if err != nil {
		return "", contract.Fixable(fmt.Sprintf("%v. A pattern such as \"folder/**\" stands for many subjects.", err))
	}
	if len(found.Hits) == 0 && len(found.AlreadyLearned) == 0 {
		return "", missing(fmt.Sprintf("No subject of topic %q matches %s. ", t.ID, misses(found.Missed)),
			fmt.Sprintf("Call learn with topic %q alone to list its subjects.", t.ID), t.ID)
	}
	shown, err := t.read(ctx, found.Hits, found.Literal, r)
	if err != nil {
		return "", err
	}
	if err := t.tree.Look(ctx, found.AlreadyLearned); err != nil {
		return "", err
	}
	for _, s := range found.AlreadyLearned {
		if !r.cannotShow(s, s.Kind, s.Problem) {
			r.subject("already in your system prompt", s)
		}
	}
	if len(found.Missed) > 0 {
		r.lines = append(r.lines, "No subjects matched: "+misses(found.Missed)+".")
	}
	r.skills(t, slices.Concat(found.Hits, found.AlreadyLearned))
	return r.appendTo(shown), nil
}

// read returns the text of subjects, each in its element; bare is a single subject without an element. It adds
// remarks on subjects that it cannot show.
func (t *topic) read(ctx context.Context, hits []*subjects.Subject, bare bool, r *remarks) (string, error) {
	var b strings.Builder
	left := int64(maxRead)
	for n, s := range hits {
		content, err := t.tree.Read(ctx, s)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		text, ok := r.show(s, content, err)
		if !ok {
			continue
		}
		block := element(s, text)
		switch {
		case len(text) > maxAnswer:
			r.subject("cannot be loaded: what is to be shown of it is over the limit of "+largest, s)
		case bare:
			return text, nil
		case left < 0 || b.Len()+len("\n\n")+len(block) > maxAnswer && b.Len() > 0:
			r.leftOut(t.ID, hits[n:])
			return b.String(), nil
		case len(block) > maxAnswer:
			r.subject("fits only into an answer of its own: load it alone", s)
		default:
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			b.WriteString(block)
		}
		left -= content.Size // it was read, even if it is not shown
	}
	return b.String(), nil
}

// show returns the text for a subject, or adds a remark on why there is none.
func (r *remarks) show(s *subjects.Subject, c subjects.Content, err error) (string, bool) {
	problem := ""
	if err != nil {
		problem = cause(err)
	}
	switch {
	case r.cannotShow(s, c.Kind, problem):
		return "", false
	case c.Empty:
		return "(subject " + quoteName(s.Name) + " is empty)", true
	case c.Note != "":
		r.subject(c.Note, s)
	}
	return c.Text, true
}

// element returns a subject's text in an element that the text cannot end.
func element(s *subjects.Subject, text string) string {
	return "<subject " + quoteName(s.Name) + ">\n" + subjects.CloseTags(text) + "\n</subject>"
}

// missing returns the error for a subject that does not exist. A model gets the problem and the next step; a person gets
// the problem and the command that lists the subjects of the topic.
func missing(problem, nextStep, topic string) error {
	return &contract.Error{Message: problem + nextStep, Detail: problem + "See its subjects with: convtools knowledge ls " + topic, Caller: true}
}
