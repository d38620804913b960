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
	// Filter selects the conversations, live and archived, and with its File the file.
	Filter
	// Line, if set, is a line without white space around it. The result has only the newest change that brought it.
	Line string
	// Until, if not zero, is a time when the line was there. A later change counts only if no earlier change brought
	// the line.
	Until time.Time
	Limit int // of conversations
}

// Blame is the result of a [BlameQuery].
type Blame struct {
	Changes []Change // the newest first
	Total   int      // conversations that may have changed the file; 0 if the query has a line
	Omitted
}

// Change is the last change of a file in a conversation, or the change that brought a line.
type Change struct {
	Listed
	Event   int // as [Event.Number]
	Time    time.Time
	Tool    string
	Edits   []toolcall.Edit // of the file
	Calls   int             // calls of the conversation that changed the file, up to and with this one
	Request string          // the request before the change; empty for none
}

// Blame returns the last changes of a file, or the change that brought a line. It finds by the indexes which
// conversations may have changed the file, and reads these until it has enough.
func (l *Library) Blame(ctx context.Context, q BlameQuery) (Blame, error) {
	q.Both = true // live and archived conversations
	return twiceIfDamaged(func() (Blame, error) { return l.blame(ctx, &q) })
}

// blame answers a query. A change brings a line if it adds the line to the file. If an index is damaged, blame returns
// an error, and [Library.Blame] calls it again.
func (l *Library) blame(ctx context.Context, q *BlameQuery) (b Blame, err error) {
	asked, err := l.newQuery(&q.Filter, &b.Omitted)
	if err == nil {
		err = asked.prepare(ctx, true)
	}
	defer asked.closeLists()
	if err != nil {
		return b, err
	}
	search := &blaming{query: asked, file: l.fileFilter(q.File), asked: q}
	candidates, err := search.candidates(ctx, q.Line)
	if err != nil {
		return b, err
	}
	if q.Line == "" {
		b.Total = len(candidates)
		b.Changes = search.lastChanges(ctx, candidates)
		return b, ctx.Err()
	}
	b.Changes = search.newestBringing(ctx, candidates)
	if len(b.Changes) == 0 { // no change brought the whole line: perhaps some replaced parts of it
		candidates, err = search.candidates(ctx, "")
		search.inParts = true
		b.Changes = search.newestBringing(ctx, candidates)
	}
	return b, cmp.Or(err, ctx.Err())
}

// blaming is a [BlameQuery] in progress.
type blaming struct {
	*query
	file    *fileFilter
	asked   *BlameQuery
	inParts bool // changes that bring a part of the line count too
}

// candidate is a conversation that may have changed the file.
type candidate struct {
	*store.Conversation
	newest time.Time // the time of the newest call that may have changed it
}

// candidates returns the searched conversations with a call that may have changed the file and contains text, or for an
// empty text the name of the file. The conversations with the newest such calls come first.
func (b *blaming) candidates(ctx context.Context, text string) ([]candidate, error) {
	var found []candidate
	for _, s := range b.sources {
		seen := map[string]bool{} // the first hit of a conversation is its newest call
		for hit, err := range s.changes(ctx, b.file, text) {
			if err != nil {
				return nil, err
			}
			if c := s.wanted[hit.Key]; c != nil && !seen[hit.Key] {
				seen[hit.Key] = true
				found = append(found, candidate{c, hit.Time})
			}
		}
	}
	slices.SortStableFunc(found, func(x, y candidate) int { return y.newest.Compare(x.newest) })
	return found, nil
}

// lastChanges returns the last change of the file in each of the first candidates that changed it, up to the limit.
func (b *blaming) lastChanges(ctx context.Context, candidates []candidate) (last []Change) {
	for _, c := range candidates {
		if len(last) == b.asked.Limit || ctx.Err() != nil {
			break
		}
		if changes := b.readChanges(ctx, c); len(changes) > 0 {
			last = append(last, changes[len(changes)-1])
		}
	}
	return last
}

// newestBringing returns the newest change that brought the line; no change if none did. It returns a change later than
// the query's Until only if no earlier change brought the line. The candidates with the newest calls come first.
func (b *blaming) newestBringing(ctx context.Context, candidates []candidate) []Change {
	var best *Change
	for _, c := range candidates {
		if isOlder := best != nil && !b.isLate(best) && c.newest.Before(best.Time); isOlder || ctx.Err() != nil {
			break // all changes of this candidate and of those after it are older than best
		}
		for _, change := range b.readChanges(ctx, c) {
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

// isLate reports whether a change is later than the time when the line was there.
func (b *blaming) isLate(c *Change) bool {
	return !b.asked.Until.IsZero() && c.Time.After(b.asked.Until)
}

// isBetter reports whether c more probably brought the line than another change: one that is not late is better than a
// late one, and otherwise the newer one is better.
func (b *blaming) isBetter(c, than *Change) bool {
	if b.isLate(c) != b.isLate(than) {
		return b.isLate(than)
	}
	return !c.Time.Before(than.Time)
}

// brings reports whether a change brings the line: the new text of an edit has the line more often than the old text.
func (b *blaming) brings(c *Change) bool {
	return slices.ContainsFunc(c.Edits, func(e toolcall.Edit) bool { return b.count(e.After) > b.count(e.Before) })
}

// leastPart is the least number of bytes of a text that can be a part of a line.
const leastPart = 4

// count returns how many lines of a text are the line of the query. With inParts, the first and the last line of the text
// also count if they are a part of the line.
func (b *blaming) count(text string) (n int) {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, l := range lines {
		l = strings.TrimSpace(l)
		isFirstOrLast := i == 0 || i == len(lines)-1
		isPart := isFirstOrLast && len(l) >= leastPart && strings.Contains(b.asked.Line, l)
		if l == b.asked.Line || b.inParts && isPart {
			n++
		}
	}
	return n
}

// readChanges reads a conversation, and returns the changes of the file by calls that did not fail, in the order of the
// calls. It ignores errors of reading: of a damaged conversation it returns the changes before the damage.
func (b *blaming) readChanges(ctx context.Context, c candidate) (changes []Change) {
	var numbering transcript.Numbering
	request := ""
	calls, hasFailed := toolCalls{}, map[int]bool{} // hasFailed is by the number of the call's event
	_, _ = c.Read(ctx, func(e *transcript.Event) bool {
		number := numbering.Next(e.Kind)
		call := calls.callOf(e, number)
		switch e.Kind {
		case transcript.KindUser:
			request = store.Request(string(e.Text))
		case transcript.KindToolResult:
			hasFailed[call.number] = e.Failed
		case transcript.KindToolCall:
			if edits := b.edits(e, c.Dir); len(edits) > 0 {
				listed := Listed{Conversation: c.Conversation.Conversation, LastEventAt: c.LastAt}
				changes = append(changes, Change{Listed: listed, Event: number, Time: e.Time, Tool: e.Name, Edits: edits, Request: request})
			}
		}
		return ctx.Err() == nil
	})
	kept := changes[:0]
	for _, change := range changes {
		if !hasFailed[change.Event] {
			change.Calls = len(kept) + 1
			kept = append(kept, change)
		}
	}
	return kept
}

// edits returns the changes of the file by a call. It decodes only calls in which the name of the file occurs.
func (b *blaming) edits(e *transcript.Event, dir string) []toolcall.Edit {
	name := []byte(b.file.path[strings.LastIndexByte(b.file.path, '/')+1:])
	if !bytes.Contains(e.Arguments, name) && !bytes.Contains(e.Text, name) {
		return nil
	}
	return b.file.edits(e, dir)
}
