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
	// maxAnswer is the most bytes of subjects in an answer. It is not less than the size of the largest file that is read.
	// The remarks after the subjects have bounds of their own.
	maxAnswer = subjects.MaxSize
	// maxRead is the number of bytes of files after which a call reads no further file. maxAnswer does not bound that: a
	// file that is read may not be shown.
	maxRead = 4 * maxAnswer
)

// Learn returns the answer of the learn tool, for the topic with an id or a title. The answer is the list of the
// topic's subjects or, if there are patterns that are not blank, the subjects that match the patterns. The notes of the
// call are at its end.
//
// The error is a [contract.Error] if the caller can correct the call, or if the directory of the topic cannot be read.
func (b *Base) Learn(ctx context.Context, topicName string, patterns, notes []string) (string, error) {
	var r remarks
	for _, note := range notes {
		r.notes = append(r.notes, "(note: "+oneLine(note)+")")
	}
	configured, err := b.lookup(topicName)
	if err != nil {
		return "", err
	}
	t, err := b.scanReadable(ctx, configured)
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

// load returns the answer with the subjects that match patterns, and the remarks r after them. If injected is true, the
// system prompt has the learned subjects: load names them in a remark and leaves out their texts. The error is a
// [contract.Error] if no pattern matches, or if the patterns are too many.
func (t *topic) load(ctx context.Context, patterns []string, injected bool, r *remarks) (string, error) {
	result, err := t.tree.Resolve(patterns, injected)
	if err != nil {
		return "", contract.Fixable(fmt.Sprintf("%v. A pattern such as \"folder/**\" stands for many subjects.", err))
	}
	if len(result.Hits) == 0 && len(result.AlreadyLearned) == 0 {
		return "", missing(fmt.Sprintf("No subject of topic %q matches %s. ", t.ID, joinMisses(result.Missed)),
			fmt.Sprintf("Call learn with topic %q alone to list its subjects.", t.ID), t.ID)
	}
	shown, err := t.read(ctx, result.Hits, result.Literal, r) // Literal, one name with one hit: no element is around the text
	if err != nil {
		return "", err
	}
	if err := t.tree.Look(ctx, result.AlreadyLearned); err != nil {
		return "", err
	}
	for _, s := range result.AlreadyLearned {
		if hasRemark := r.addIfUnshowable(s, s.Kind, s.Problem); !hasRemark {
			r.addSubject("already in your system prompt", s)
		}
	}
	if len(result.Missed) > 0 {
		r.lines = append(r.lines, "No subjects matched: "+joinMisses(result.Missed)+".")
	}
	r.addSkillFolders(t, slices.Concat(result.Hits, result.AlreadyLearned))
	return r.appendTo(shown), nil
}

// read returns the texts of subjects, each in an element, as far as an answer has room. If bare is true, it returns the
// text of the only subject without an element. It adds remarks about subjects that are not shown. The error is that of
// the context.
func (t *topic) read(ctx context.Context, hits []*subjects.Subject, bare bool, r *remarks) (string, error) {
	var b strings.Builder
	readable := int64(maxRead) // bytes that may still be read
	for n, s := range hits {
		content, err := t.tree.Read(ctx, s)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		text, ok := r.textOf(s, content, err)
		if !ok {
			continue
		}
		block := element(s, text)
		hasNoRoom := b.Len() > 0 && b.Len()+len("\n\n")+len(block) > maxAnswer
		switch {
		case len(text) > maxAnswer:
			r.addSubject("cannot be loaded: what is to be shown of it is over the limit of "+largest, s)
		case bare:
			return text, nil
		case hasNoRoom || readable < 0:
			r.addLeftOut(t.ID, hits[n:])
			return b.String(), nil
		case len(block) > maxAnswer: // and nothing is before it
			r.addSubject("fits only into an answer of its own: load it alone", s)
		default:
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			b.WriteString(block)
		}
		readable -= content.Size // also if the subject is not shown
	}
	return b.String(), nil
}

// textOf returns the text of an answer for a subject, from its content and the error of reading it. If the subject
// cannot be shown, textOf adds the reason to the remarks and returns false. It also adds the note of the content.
func (r *remarks) textOf(s *subjects.Subject, c subjects.Content, err error) (string, bool) {
	problem := ""
	if err != nil {
		problem = cause(err)
	}
	switch {
	case r.addIfUnshowable(s, c.Kind, problem):
		return "", false
	case c.Empty:
		return "(subject " + quoteName(s.Name) + " is empty)", true
	case c.Note != "":
		r.addSubject(c.Note, s)
	}
	return c.Text, true
}

// element returns a subject's text in an element that the text cannot end.
func element(s *subjects.Subject, text string) string {
	return "<subject " + quoteName(s.Name) + ">\n" + subjects.CloseTags(text) + "\n</subject>"
}

// missing returns the error for a subject that does not exist. A model gets the problem and the next step; a person
// gets the problem and the command that lists the subjects of the topic.
func missing(problem, nextStep, topic string) error {
	return &contract.Error{Message: problem + nextStep, Detail: problem + "See its subjects with: convtools knowledge ls " + topic, Caller: true}
}
