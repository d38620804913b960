package conversations

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/toolcall"
	"github.com/convtools/convtools/runtime/transcript"
)

// BlameQuery asks which conversations changed a file, or brought a line of it.
type BlameQuery struct {
	// Filter selects the conversations, live and archived. Its File is the file.
	Filter
	// Line, if not empty, is the text of a line without white space around it: the result has only the newest change
	// that brought it.
	Line string
	// Until, if not zero, is a time before which the line was there. Later changes count only if no earlier one
	// brought it.
	Until time.Time
	Limit int // of conversations
}

// Blame is the result of a [BlameQuery].
type Blame struct {
	Changes []Change // the newest first
	Total   int      // conversations that changed the file, without a line
	Omitted
}

// Change is the last change of a file in a conversation, or the change that brought a line.
type Change struct {
	Listed
	Event   int // as [Event.Number]
	Time    time.Time
	Tool    string
	Edits   []toolcall.Edit // of the file
	Calls   int             // that changed the file in the conversation, up to this one
	Request string          // that led to the change; empty for none
}

// Blame returns the conversations that changed a file. It reads those that it returns, and of the others only what
// the indexes have.
func (l *Library) Blame(ctx context.Context, q BlameQuery) (b Blame, err error) {
	q.Both = true
	asked, err := l.newQuery(&q.Filter, &b.Omitted)
	if err == nil {
		err = asked.prepare(ctx, true)
	}
	defer asked.end()
	if err != nil {
		return b, err
	}
	blaming := &blaming{query: asked, file: l.fileFilter(q.File), asked: &q}
	candidates, err := blaming.candidates(ctx, q.Line)
	if err != nil {
		return b, err
	}
	if q.Line == "" {
		b.Total = len(candidates)
		b.Changes = blaming.last(ctx, candidates)
	} else if b.Changes = blaming.brought(ctx, candidates); len(b.Changes) == 0 {
		// Only a part of the line was replaced.
		if candidates, err = blaming.candidates(ctx, ""); err == nil {
			blaming.inParts = true
			b.Changes = blaming.brought(ctx, candidates)
		}
	}
	return b, cmp.Or(err, ctx.Err())
}

// blaming is a [BlameQuery] in progress.
type blaming struct {
	*query
	file    *fileFilter
	asked   *BlameQuery
	inParts bool // a change may bring a part of the line
}

// candidate is a conversation that may have changed the file.
type candidate struct {
	*store.Conversation
	newest time.Time // of its calls that may have
}

// candidates returns the conversations with a call that may have changed the file and has a text, the newest first.
func (b *blaming) candidates(ctx context.Context, text string) (all []candidate, err error) {
	for _, s := range b.sources {
		seen := map[string]bool{}
		for hit, err := range s.changes(ctx, b.file, text) {
			if err != nil {
				return nil, err
			}
			if c := s.wanted[hit.Key]; c != nil && !seen[hit.Key] {
				seen[hit.Key] = true
				all = append(all, candidate{c, hit.Time})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.newest.Compare(a.newest) })
	return all, nil
}

// last returns the last change in each of the first candidates that changed the file.
func (b *blaming) last(ctx context.Context, candidates []candidate) (last []Change) {
	for _, c := range candidates {
		if len(last) == b.asked.Limit || ctx.Err() != nil {
			break
		}
		if changes := b.read(ctx, c); len(changes) > 0 {
			last = append(last, changes[len(changes)-1])
		}
	}
	return last
}

// brought returns the newest change that brought the line; none if no candidate did.
func (b *blaming) brought(ctx context.Context, candidates []candidate) []Change {
	var best *Change
	for _, c := range candidates {
		if best != nil && c.newest.Before(best.Time) && !b.isLate(best) || ctx.Err() != nil {
			break
		}
		for _, change := range b.read(ctx, c) {
			if b.brings(&change) && (best == nil || b.isBetter(&change, best)) {
				best = &change
			}
		}
	}
	if best == nil {
		return nil
	}
	return []Change{*best}
}

// isLate reports whether the line was there before a change.
func (b *blaming) isLate(c *Change) bool {
	return !b.asked.Until.IsZero() && c.Time.After(b.asked.Until)
}

// isBetter reports whether a change of two more probably brought the line.
func (b *blaming) isBetter(c, than *Change) bool {
	if b.isLate(c) != b.isLate(than) {
		return b.isLate(than)
	}
	return !c.Time.Before(than.Time)
}

// brings reports whether a change brings the line, or a part of it: its new text has it oftener than its old one.
func (b *blaming) brings(c *Change) bool {
	return slices.ContainsFunc(c.Edits, func(e toolcall.Edit) bool { return b.count(e.After) > b.count(e.Before) })
}

// leastPart is the least number of bytes of a text that can be a part of a line.
const leastPart = 4

// count returns how often a text has the line, or if a part counts, whether its first or last line is one.
func (b *blaming) count(text string) (n int) {
	line, lines := b.asked.Line, strings.Split(strings.Trim(text, "\n"), "\n")
	for i, l := range lines {
		l = strings.TrimSpace(l)
		isEnd := i == 0 || i == len(lines)-1
		if l == line || b.inParts && isEnd && len(l) >= leastPart && strings.Contains(line, l) {
			n++
		}
	}
	return n
}

// read returns the calls of a conversation that changed the file, in their order; none if it cannot be read.
func (b *blaming) read(ctx context.Context, c candidate) (changes []Change) {
	var numbering transcript.Numbering
	request := ""
	failed := map[string]bool{}
	var ids []string                                    // of the calls
	_, _ = c.Read(ctx, func(e *transcript.Event) bool { // the conversation is damaged at most
		number := numbering.Next(e.Kind)
		switch e.Kind {
		case transcript.KindUser:
			request = store.Request(string(e.Text))
		case transcript.KindToolResult:
			failed[e.CallID] = e.Failed && e.CallID != ""
		case transcript.KindToolCall:
			if edits := b.edits(e, c.Dir); len(edits) > 0 {
				listed := Listed{Conversation: c.Conversation.Conversation, LastEventAt: c.LastAt}
				changes = append(changes, Change{Listed: listed, Event: number, Time: e.Time, Tool: e.Name, Edits: edits, Request: request})
				ids = append(ids, e.CallID)
			}
		}
		return ctx.Err() == nil
	})
	kept := changes[:0]
	for i, change := range changes {
		if !failed[ids[i]] {
			change.Calls = len(kept) + 1
			kept = append(kept, change)
		}
	}
	return kept
}

// edits returns the changes of the file by a call. It looks only into calls that have its name.
func (b *blaming) edits(e *transcript.Event, dir string) []toolcall.Edit {
	name := []byte(b.file.path[strings.LastIndexByte(b.file.path, '/')+1:])
	if !bytes.Contains(e.Arguments, name) && !bytes.Contains(e.Text, name) {
		return nil
	}
	return b.file.edits(e, dir)
}
