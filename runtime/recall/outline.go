package recall

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// Bounds on outlines, in characters.
const (
	maxBeginning = 120  // of a request, shown
	maxScanned   = 4000 // of a request, looked at to find how it begins
)

// request is a request of the user in an outline.
type request struct {
	number, turn int
	at           time.Time // zero where not known
	chars        int       // of the whole request
	text         string    // how it begins, as by beginning
	answer       int       // the event of the last that the assistant said before the next request; 0 for none
	announces    bool      // it ends as an announcement does
	interrupted  bool      // the next request of the turn came before an answer: it has that of the turn
	answerChars  int       // of it
}

// newRequest makes an entry of an event of the user, of whose text there may be no
// more than the beginning and the end.
func newRequest(e *conversations.Event) request {
	s, chars := string(e.Text), e.Chars
	head, tail := s, ""
	if chars > 0 {
		head, _, _ = text.Ends(s, e.Head, 0)
		tail = s[len(head):]
	} else {
		chars = utf8.RuneCountInString(s)
	}
	return request{number: e.Number, turn: e.Turn, at: e.Time, chars: chars, text: beginning(head, tail)}
}

// outline is the requests of one conversation, in order, or the first and the last of them.
type outline struct {
	requests []request
	left     int  // requests that are left out
	before   int  // index of the request that those stand before
	unread   bool // the conversation could not be read
}

// readOutline reads the outline of a conversation.
func readOutline(ctx context.Context, source conversations.Source, id string) (outline, error) {
	var o outline
	_, err := source.Read(ctx, conversations.ReadQuery{
		ID: id, MaxText: maxScanned,
		Kinds: func(kind transcript.Kind) bool { return kind == transcript.KindUser || isSaid(kindOf(kind)) },
		Event: func(e *conversations.Event) error {
			if e.Kind == transcript.KindUser {
				o.add(newRequest(e))
			} else if len(strings.TrimSpace(string(e.Text))) > 0 {
				o.answered(e)
			}
			return ctx.Err()
		},
	})
	o.answerInterrupted()
	return o, err
}

// answerTo is the event of the answer to a request; 0 for none.
func (o *outline) answerTo(number int) int {
	for i := range o.requests {
		if o.requests[i].number == number {
			return o.requests[i].answer
		}
	}
	return 0
}

// answerInterrupted gives each interrupted request the last answer in its turn.
func (o *outline) answerInterrupted() {
	var last request // with an answer
	for i := len(o.requests) - 1; i >= 0; i-- {
		switch r := &o.requests[i]; {
		case r.interrupted:
			if r.turn != last.turn {
				continue
			}
			r.answer, r.answerChars = last.answer, last.answerChars
		case r.answer > 0 && r.turn != last.turn:
			last = *r
		}
	}
}

// add adds the next request.
func (o *outline) add(r request) {
	if n := len(o.requests); n > 0 && o.requests[n-1].turn == r.turn && o.requests[n-1].announces {
		before := &o.requests[n-1]
		before.answer, before.answerChars, before.announces, before.interrupted = 0, 0, false, true
	}
	o.requests = append(o.requests, r)
}

// answered adds what the assistant said after the latest request, in the same turn.
func (o *outline) answered(e *conversations.Event) {
	n := len(o.requests)
	if n == 0 || o.requests[n-1].turn != e.Turn {
		return
	}
	last := &o.requests[n-1]
	last.answer, last.answerChars, last.announces = e.Number, e.Chars, isAnnouncement(e.Text)
	if e.Chars == 0 {
		last.answerChars = utf8.RuneCountInString(string(e.Text))
	}
}

// within is the whole outline with as many requests as cost no more than limit
// together: those nearest to its middle are left out.
func (o *outline) within(limit int, cost func(*request) int) outline {
	total := 0
	for i := range o.requests {
		total += cost(&o.requests[i])
	}
	from := (len(o.requests) + 1) / 2
	to := from
	for total > limit && (from > 0 || to < len(o.requests)) {
		if from > len(o.requests)-to {
			from--
			total -= cost(&o.requests[from])
		} else {
			total -= cost(&o.requests[to])
			to++
		}
	}
	kept := append(o.requests[:from:from], o.requests[to:]...)
	return outline{requests: kept, left: to - from, before: from}
}

// beginning is how a request begins: one line of at most maxBeginning characters,
// made visible, in which the lines of the prose are joined. Code, quotations, tables,
// elements and headings are left out of it, before the prose without a mark and inside as "…";
// a request that has no prose begins with them. Where there is not all of a request,
// tail is its end, and head what it begins with: a question often stands behind what
// was pasted.
func beginning(head, tail string) string {
	said, pasted, fence := opening(head, tail)
	if tail != "" && utf8.RuneCountInString(said) < maxBeginning {
		behind, _, _ := opening(behindPaste(tail, fence), "")
		said = strings.TrimPrefix(strings.TrimSuffix(said+gap+behind, gap), gap)
	}
	return text.Cut(cmp.Or(said, pasted, oneLine(head)), maxBeginning)
}

// gap stands for what is left out inside of a beginning.
const gap = " … "

// opening is the prose of a text, what stands before it, and what ends the block that
// is open where the text ends. The text goes on in behind.
func opening(s, behind string) (said, pasted, fence string) {
	var prose, others []string
	heading, mayBeCode := "", true // behind a blank line, or code
	for line := range strings.Lines(s) {
		s = s[len(line):]
		bare := strings.TrimSpace(line)
		isCode := mayBeCode && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"))
		mayBeCode = isCode || bare == ""
		switch {
		case fence != "":
			if closes(bare, fence) {
				fence = ""
			} else {
				others = append(others, bare)
			}
			continue
		case bare == "", isRule(bare):
			continue
		}
		fence = fenceOf(bare)
		element := endTag(bare)
		if element != "" && !strings.HasSuffix(bare, element) && (strings.Contains(s, element) || strings.Contains(behind, element)) {
			fence = element
		}
		marked, isHeading := headingOf(bare)
		isAside := fence != "" || isHeading || isCode || element != "" || strings.HasPrefix(bare, ">") || strings.HasPrefix(bare, "|") || isTags(bare)
		switch {
		case isAside && len(prose) > 0:
			if prose[len(prose)-1] != "…" {
				prose = append(prose, "…")
			}
		case fence != "":
		case isHeading:
			heading = cmp.Or(heading, marked)
			others = append(others, marked)
		case isAside:
			others = append(others, strings.TrimSpace(strings.TrimLeft(bare, ">|")))
		case len(prose) == 0 && heading != "" && isItem(bare):
			// A list says little without what it is a list of.
			prose = append(prose, heading, bare)
		default:
			prose = append(prose, bare)
		}
	}
	said = strings.TrimSuffix(oneLine(strings.Join(prose, " ")), " …")
	return said, oneLine(strings.Join(others, " ")), fence
}

// behindPaste is what of the end of a text stands behind all that is fenced. Its
// first line is left out, since that may be a part of one.
func behindPaste(tail, fence string) string {
	_, rest, _ := strings.Cut(tail, "\n")
	for i := 0; i < len(rest); {
		line, _, _ := strings.Cut(rest[i:], "\n")
		next := min(len(rest), i+len(line)+1)
		bare := strings.TrimSpace(line)
		if fence != "" && closes(bare, fence) || fence == "" && fenceOf(bare) != "" {
			rest, i = rest[next:], 0
			continue
		}
		i = next
	}
	return rest
}

// fenceOf is the marks that a line begins a block of code with; empty where it
// begins none.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		info := strings.TrimLeft(line, mark)
		if n := len(line) - len(info); n >= 3 && !strings.Contains(info, "`") {
			return line[:n]
		}
	}
	return ""
}

// endTag is the tag that ends the element that a line of markup begins or is; empty
// where it is something else.
func endTag(line string) string {
	name, isTag := strings.CutPrefix(line, "<")
	if !isTag || !strings.HasSuffix(line, ">") {
		return ""
	}
	name = name[:strings.IndexAny(name, " >")]
	end := "</" + strings.TrimPrefix(name, "/") + ">"
	if !strings.HasSuffix(line, end) && strings.Index(line, ">") < len(line)-1 {
		return ""
	}
	return end
}

// closes reports whether a line ends the block that began with the marks fence, or
// that ends with this tag.
func closes(line, fence string) bool {
	if strings.HasPrefix(fence, "</") {
		return strings.HasSuffix(line, fence)
	}
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}

// headingOf is the text of a heading.
func headingOf(line string) (string, bool) {
	rest := strings.TrimLeft(line, "#")
	if n := len(line) - len(rest); n == 0 || n > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

// isTags reports whether all words of a line are tags such as #task.
func isTags(line string) bool {
	for word := range strings.FieldsSeq(line) {
		if len(word) < 2 || word[0] != '#' {
			return false
		}
	}
	return true
}

func isRule(line string) bool { return len(line) >= 3 && strings.Trim(line, "-=*_ ") == "" }

func isItem(line string) bool {
	word, _, more := strings.Cut(line, " ")
	return more && (word == "-" || word == "*" || word == "+" || strings.Trim(word, "0123456789") == "." || strings.Trim(word, "0123456789") == ")")
}

// oneLine makes text visible on one line without runs of spaces.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(text.Line(s), func(r rune) bool { return r == ' ' || r == '\t' }), " ")
}
