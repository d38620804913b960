package conversationcli

import (
	"fmt"
	"strconv"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
)

// terminalMaxLine is how many characters of a line a terminal is shown unless
// --max-line says otherwise.
const terminalMaxLine = 1000

// Styles of a terminal that shows colour.
const (
	styleMatch = "\x1b[1;31m"
	styleID    = "\x1b[1m"
	styleDim   = "\x1b[2m"
	styleReset = "\x1b[0m"
)

// hitWriter writes what a search finds, in one of the forms of --output.
type hitWriter struct {
	context bool // lines of context are written too
	out     output
	array   *array // nil for text output
	output  string
	heading bool
	colour  bool
	links   links

	id    string
	first bool // no hit has been written, below this heading if there are any
	event int  // of the line written before
	line  int  // its number
	rec   record

	headings int
	buf      []byte
}

func (c *commands) newHitWriter(out output, f format, opts grepOptions) *hitWriter {
	w := &hitWriter{context: opts.context > 0, out: out, output: opts.output, colour: f.colour, first: true}
	w.heading = opts.heading || f.pretty && c.host.Terminal && !opts.noHeading
	if f.json {
		w.array = c.newArray(out, f)
	}
	return w
}

// begin starts a conversation.
func (w *hitWriter) begin(m *conversations.Match) error {
	w.id, w.event = string(m.ID), -2 // follows no event
	switch {
	case w.output == "ids" && w.array != nil:
		return w.array.add(appendQuoted(w.buf[:0], w.id))
	case w.output == "ids":
		return w.out.write([]byte(w.id + "\n"))
	case w.output == "count" && w.array != nil:
		w.rec.reset()
		w.rec.string("id", w.id)
		w.rec.int("count", m.Shown)
		return w.array.add(w.rec.end())
	case w.output == "count":
		return w.out.write([]byte(w.id + ":" + strconv.Itoa(m.Shown) + "\n"))
	case w.output == "hits" && w.array == nil && w.heading:
		return w.writeHeading(m)
	}
	return nil
}

func (w *hitWriter) writeHeading(m *conversations.Match) error {
	b := w.buf[:0]
	if w.headings > 0 {
		b = append(b, '\n')
	}
	w.headings++
	b = w.style(b, styleID, w.links.id(m.ID))
	if title := m.Title; title != "" {
		b = append(b, "  "...)
		b = text.AppendCell(b, []byte(title))
	}
	b = append(b, '\n')
	w.buf, w.first = b, true
	return w.out.write(b)
}

// hit writes one line.
func (w *hitWriter) hit(h *conversations.Line) error {
	switch {
	case w.array != nil && w.output == "text":
		return w.element(func(r *record) {
			r.buf = r.buf[:0]
			r.longValue(h.Text)
		})
	case w.array != nil:
		return w.element(func(r *record) {
			r.reset()
			r.hit(w.id, h)
			r.end()
		})
	}
	b := w.buf[:0]
	if w.context && !w.first && w.gapBefore(h) {
		b = append(b, "--\n"...)
	}
	w.first, w.event, w.line = false, h.Event, h.Number
	if w.output == "hits" {
		b = w.appendPlace(b, h)
	}
	w.buf = b
	if err := w.writeText(h); err != nil {
		return err
	}
	return w.flush("\n")
}

// element writes an element of the array that fill makes. A line may be long and
// have millions of matches, so it is written as it grows.
func (w *hitWriter) element(fill func(*record)) error {
	if err := w.array.next(); err != nil {
		return err
	}
	w.rec.sink, w.rec.err = w.array.part, nil
	fill(&w.rec)
	w.rec.sink = nil
	if w.rec.err != nil {
		return w.rec.err
	}
	return w.array.part(w.rec.buf)
}

// flush writes what has been built, with an end.
func (w *hitWriter) flush(end string) error {
	err := w.out.write(append(w.buf, end...))
	w.buf = w.buf[:0]
	return err
}

// gapBefore reports whether lines were left out between the last hit and h.
func (w *hitWriter) gapBefore(h *conversations.Line) bool {
	return h.Event != w.event || h.Number != w.line+1
}

// appendPlace appends what stands before the text of a hit.
func (w *hitWriter) appendPlace(b []byte, h *conversations.Line) []byte {
	if w.heading {
		turn := ".."
		if h.Turn > 0 {
			turn = strconv.Itoa(h.Turn)
		}
		return w.style(b, styleDim, fmt.Sprintf("%5s %-11s ", turn, h.Scope))
	}
	b = append(append(b, w.id...), ':')
	if h.Turn > 0 {
		b = strconv.AppendInt(b, int64(h.Turn), 10)
	} else {
		b = append(b, ".."...)
	}
	b = append(append(append(b, ':'), h.Scope.String()...), ':')
	if h.IsMatch {
		return append(b, "m:"...)
	}
	return append(b, "c:"...)
}

// writeText writes the text of a hit, made safe piece by piece so that styles
// stand around the matches and nothing recorded can add any.
func (w *hitWriter) writeText(h *conversations.Line) error {
	if !w.colour {
		return w.writeSafe("", h.Text, "")
	}
	if !h.IsMatch {
		return w.writeSafe(styleDim, h.Text, styleReset)
	}
	at := 0
	for s := range h.Spans {
		if err := w.writeSafe("", h.Text[at:s.Start], ""); err != nil {
			return err
		}
		if err := w.writeSafe(styleMatch, h.Text[s.Start:s.End], styleReset); err != nil {
			return err
		}
		at = s.End
	}
	return w.writeSafe("", h.Text[at:], "")
}

// writeSafe adds safe text to what has been built and writes that when it has
// grown large. Tabs stay; a hit holds no line breaks.
func (w *hitWriter) writeSafe(before string, hit []byte, after string) error {
	w.buf = append(w.buf, before...)
	for part := range parts(hit) {
		w.buf = text.AppendVisible(w.buf, part)
		if len(w.buf) >= maxPart {
			if err := w.flush(""); err != nil {
				return err
			}
		}
	}
	w.buf = append(w.buf, after...)
	return nil
}

func (w *hitWriter) style(b []byte, style, text string) []byte {
	if !w.colour {
		return append(b, text...)
	}
	b = append(b, style...)
	b = append(b, text...)
	return append(b, styleReset...)
}

// close ends the output; summary may be nil.
func (w *hitWriter) close(summary func(*record)) error {
	if w.array == nil {
		return w.out.flush()
	}
	if summary != nil {
		if err := w.array.addSummary(summary); err != nil {
			return err
		}
	}
	return w.array.close()
}

// hit fills in the record of a line.
func (r *record) hit(id string, h *conversations.Line) {
	r.string("id", id)
	r.positive("turn", h.Turn)
	r.string("scope", h.Scope.String())
	r.time("timestamp", h.Time)
	r.optional("title", h.Conversation.Title)
	if source := h.Conversation.Source; source != "" {
		r.string("source", source)
	}
	r.longText("text", h.Text)
	r.bool("match", h.IsMatch)
	r.key("submatches")
	r.buf = append(r.buf, '[')
	first := true
	for s := range h.Spans {
		if !first {
			r.buf = append(r.buf, ',')
		}
		first = false
		r.buf = append(r.buf, '{')
		r.longText("match", h.Text[s.Start:s.End])
		r.int("start", s.Start)
		r.int("end", s.End)
		r.buf = append(r.buf, '}')
		if r.spill(); r.err != nil {
			break
		}
	}
	r.buf = append(r.buf, ']')
	if h.Event < 0 {
		r.null("line")
		r.null("event")
	} else {
		r.int("line", h.Number)
		r.int("event", h.Event)
	}
	if h.Chars > 0 {
		r.int("chars", h.Chars)
	}
	if h.EventNumber > 0 {
		r.int("number", h.EventNumber)
	}
	if h.EventChars > 0 {
		r.int("event_chars", h.EventChars)
	}
}
