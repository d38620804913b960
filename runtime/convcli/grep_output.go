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
		w.buf = appendQuoted(w.buf[:0], string(h.text))
		return w.array.add(w.buf)
	case w.array != nil:
		w.rec.reset()
		w.rec.hit(w.conv, w.id, h, w.pattern)
		return w.array.add(w.rec.end())
	}
	b := w.buf[:0]
	if w.context > 0 && !w.first && w.gapBefore(h) {
		b = append(b, "--\n"...)
	}
	w.first, w.last = false, hit{turn: h.turn, event: h.event, line: h.line}
	if w.output == "hits" {
		b = w.appendPlace(b, h)
	}
	b = w.appendText(b, h)
	b = append(b, '\n')
	w.buf = b
	return w.out.write(b)
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

// appendText appends the text of a hit, made safe piece by piece so that styles
// stand around the matches and nothing recorded can add any.
func (w *hitWriter) appendText(b []byte, h *hit) []byte {
	if !w.colour {
		return appendHitText(b, h.text)
	}
	if !h.match {
		b = append(b, styleDim...)
		b = appendHitText(b, h.text)
		return append(b, styleReset...)
	}
	at := 0
	h.each(w.pattern, func(s span) bool {
		b = appendHitText(b, h.text[at:s.start])
		b = append(b, styleMatch...)
		b = appendHitText(b, h.text[s.start:s.end])
		b = append(b, styleReset...)
		at = s.end
		return true
	})
	return appendHitText(b, h.text[at:])
}

// appendHitText keeps tabs; a hit holds no line breaks.
func appendHitText(b, text []byte) []byte { return terminal.AppendText(b, text) }

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
	r.text("text", h.text)
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
		r.text("match", h.text[s.start:s.end])
		r.int("start", s.start)
		r.int("end", s.end)
		r.buf = append(r.buf, '}')
		return true
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
