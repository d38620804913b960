package convcli

import (
	"fmt"
	"strconv"

	"github.com/convtools/convtools/runtime/convcli/internal/terminal"
	"github.com/convtools/convtools/runtime/workspace"
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
	query
	out     output
	array   *array // nil for text output
	output  string
	heading bool
	colour  bool

	conv  *workspace.Conversation
	id    string
	first bool // no hit has been written, below this heading if there are any
	last  hit  // the hit written before, text aside
	rec   record

	headings int
	buf      []byte
}

func (c *cli) newHitWriter(out output, f format, opts grepOptions, q query) *hitWriter {
	w := &hitWriter{query: q, out: out, output: opts.output, colour: f.colour, first: true}
	w.heading = opts.heading || f.pretty && c.env.IsTerminal && !opts.noHeading
	if f.json {
		w.array = c.newArray(out, f)
	}
	return w
}

// begin starts a conversation of which so many matches are shown.
func (w *hitWriter) begin(f *finding, matches int) error {
	w.conv, w.last = f.Conversation, hit{event: -2} // follows no event
	w.id = f.ID.String()
	switch {
	case w.output == "ids" && w.array != nil:
		return w.array.add(appendQuoted(w.buf[:0], w.id))
	case w.output == "ids":
		return w.out.write([]byte(w.id + "\n"))
	case w.output == "count" && w.array != nil:
		w.rec.reset()
		w.rec.string("id", w.id)
		w.rec.int("count", matches)
		return w.array.add(w.rec.end())
	case w.output == "count":
		return w.out.write([]byte(w.id + ":" + strconv.Itoa(matches) + "\n"))
	case w.output == "hits" && w.array == nil && w.heading:
		return w.writeHeading(f)
	}
	return nil
}

func (w *hitWriter) writeHeading(f *finding) error {
	b := w.buf[:0]
	if w.headings > 0 {
		b = append(b, '\n')
	}
	w.headings++
	b = w.style(b, styleID, w.id)
	if title := f.Metadata.Title; title != "" {
		b = append(b, "  "...)
		b = terminal.AppendLine(b, []byte(title))
	}
	b = append(b, '\n')
	w.buf, w.first = b, true
	return w.out.write(b)
}

// hit writes one hit. Its text is not used after the call.
func (w *hitWriter) hit(h *hit) error {
	switch {
	case w.array != nil && w.output == "text":
		return w.element(func(r *record) {
			r.buf = r.buf[:0]
			r.longValue(h.text)
		})
	case w.array != nil:
		return w.element(func(r *record) {
			r.reset()
			r.hit(w.conv, w.id, h, w.pattern)
			r.end()
		})
	}
	b := w.buf[:0]
	if w.context > 0 && !w.first && w.gapBefore(h) {
		b = append(b, "--\n"...)
	}
	w.first, w.last = false, hit{turn: h.turn, event: h.event, line: h.line}
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
func (w *hitWriter) gapBefore(h *hit) bool {
	return h.event != w.last.event || h.line != w.last.line+1
}

// appendPlace appends what stands before the text of a hit.
func (w *hitWriter) appendPlace(b []byte, h *hit) []byte {
	if w.heading {
		turn := ".."
		if h.turn > 0 {
			turn = strconv.Itoa(h.turn)
		}
		return w.style(b, styleDim, fmt.Sprintf("%5s %-11s ", turn, h.scope))
	}
	b = append(append(b, w.id...), ':')
	if h.turn > 0 {
		b = strconv.AppendInt(b, int64(h.turn), 10)
	} else {
		b = append(b, ".."...)
	}
	b = append(append(append(b, ':'), h.scope.String()...), ':')
	if h.match {
		return append(b, "m:"...)
	}
	return append(b, "c:"...)
}

// writeText writes the text of a hit, made safe piece by piece so that styles
// stand around the matches and nothing recorded can add any.
func (w *hitWriter) writeText(h *hit) error {
	if !w.colour {
		return w.writeSafe("", h.text, "")
	}
	if !h.match {
		return w.writeSafe(styleDim, h.text, styleReset)
	}
	at := 0
	var err error
	h.each(w.pattern, func(s span) bool {
		if err = w.writeSafe("", h.text[at:s.start], ""); err == nil {
			err = w.writeSafe(styleMatch, h.text[s.start:s.end], styleReset)
		}
		at = s.end
		return err == nil
	})
	if err != nil {
		return err
	}
	return w.writeSafe("", h.text[at:], "")
}

// writeSafe adds safe text to what has been built and writes that when it has
// grown large. Tabs stay; a hit holds no line breaks.
func (w *hitWriter) writeSafe(before string, text []byte, after string) error {
	w.buf = append(w.buf, before...)
	for part := range parts(text) {
		w.buf = terminal.AppendText(w.buf, part)
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

// hit fills in the record of a hit.
func (r *record) hit(conv *workspace.Conversation, id string, h *hit, p *pattern) {
	r.string("id", id)
	r.positive("turn", h.turn)
	r.string("scope", h.scope.String())
	r.time("timestamp", h.timestamp)
	r.optional("title", conv.Metadata.Title)
	r.longText("text", h.text)
	r.bool("match", h.match)
	r.key("submatches")
	r.buf = append(r.buf, '[')
	first := true
	h.each(p, func(s span) bool {
		if !first {
			r.buf = append(r.buf, ',')
		}
		first = false
		r.buf = append(r.buf, '{')
		r.longText("match", h.text[s.start:s.end])
		r.int("start", s.start)
		r.int("end", s.end)
		r.buf = append(r.buf, '}')
		r.spill()
		return r.err == nil
	})
	r.buf = append(r.buf, ']')
	if h.event < 0 {
		r.null("line")
		r.null("event")
	} else {
		r.int("line", h.line)
		r.int("event", h.event)
	}
	if h.chars > 0 {
		r.int("chars", h.chars)
	}
}
