package conversationcli

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

// terminalMaxLine is how many characters of a line a terminal is shown unless
// --max-line says otherwise.
const terminalMaxLine = 1000

// hitWriter writes what a search finds, in one of the forms of --output.
type hitWriter struct {
	*results
	opts    grepOptions
	heading bool
	links   links

	id    string
	first bool // no hit has been written, below this heading if there are any
	event int  // of the line written before
	line  int  // its number
	buf   []byte

	shown    []*conversations.Matched // the conversations that were written
	returned int                      // matching lines
}

// grepLine is a line that is written: one that matches, or one around that.
type grepLine struct {
	hit     *conversations.Hit
	number  int // in the text of the event, from 1
	isMatch bool
	excerpt.Window
	spans iter.Seq[excerpt.Span] // the matches in it
}

func (c *commands) newHitWriter(f format, opts grepOptions) *hitWriter {
	return &hitWriter{
		results: c.newResults(f), opts: opts, first: true,
		heading: opts.heading || f.pretty && c.host.Terminal && !opts.noHeading,
	}
}

// writeAll writes what was found, as far as the options ask for it.
func (w *hitWriter) writeAll(found *conversations.Results, p *excerpt.Pattern) error {
	hits := found.Hits
	for _, c := range found.Conversations {
		n := 0
		for n < len(hits) && hits[n].Conversation == c {
			n++
		}
		of := hits[:n]
		hits = hits[n:]
		room := c.Matches
		if w.opts.maxMatches > 0 {
			room = min(room, w.opts.maxMatches)
		}
		if w.opts.maxHits > 0 {
			room = min(room, w.opts.maxHits-w.returned)
		}
		if room == 0 || w.opts.limit > 0 && len(w.shown) == w.opts.limit {
			return nil
		}
		w.returned += room
		w.shown = append(w.shown, c)
		w.conversation(c, room)
		if w.opts.output != "hits" && w.opts.output != "text" {
			continue
		}
		for i := 0; i < n && room > 0; i++ {
			var err error
			if room, err = w.writeEvent(found, &of[i], p, room); err != nil {
				return err
			}
		}
	}
	return w.err
}

// writeEvent writes at most room matching lines of an event, and those around them, and returns how
// much room is left.
func (w *hitWriter) writeEvent(found *conversations.Results, h *conversations.Hit, p *excerpt.Pattern, room int) (left int, err error) {
	content, err := found.Read(h)
	if err != nil {
		return 0, err
	}
	left = room
	for l := range p.Lines(content.Text, w.opts.context, room) {
		line := content.Text[l.Start:l.End]
		out := grepLine{hit: h, number: l.Number, isMatch: l.IsMatch, spans: func(func(excerpt.Span) bool) {}}
		if l.IsMatch {
			left--
		}
		switch out.Window = p.Window(line, w.opts.maxLine, 1, l.IsMatch); {
		case out.Chars > 0:
			out.spans = slices.Values(out.Matches)
		case l.IsMatch:
			out.spans = p.Spans(line)
		}
		w.hit(&out)
	}
	return left, w.err
}

// conversation begins a conversation; shown is how many lines follow.
func (w *hitWriter) conversation(m *conversations.Matched, shown int) {
	w.id, w.event = string(m.ID), -2 // follows no event
	switch output := w.opts.output; {
	case output == "count":
		w.add(fmt.Sprintf("%s:%d\n", w.id, shown), object{"id", w.id, "count", shown})
	case output == "ids" && w.format.json:
		w.element(appendQuoted(nil, w.id))
	case output == "ids":
		w.write([]byte(w.id + "\n"))
	case output == "hits" && !w.format.json && w.heading:
		heading := w.format.style(styleID, w.links.id(m.ID))
		if m.Title != "" {
			heading += "  " + text.Cell(m.Title)
		}
		if len(w.shown) > 1 {
			heading = "\n" + heading
		}
		w.first = true
		w.write([]byte(heading + "\n"))
	}
}

// hit writes one line.
func (w *hitWriter) hit(h *grepLine) {
	switch {
	case w.format.json && w.opts.output == "text":
		w.element(transcript.AppendQuoted(nil, h.Text))
		return
	case w.format.json:
		w.hitJSON(h)
		return
	}
	b := w.buf[:0]
	gap := h.hit.Index != w.event || h.number != w.line+1
	if w.opts.context > 0 && !w.first && gap {
		b = append(b, "--\n"...)
	}
	w.first, w.event, w.line = false, h.hit.Index, h.number
	if w.opts.output == "hits" {
		b = append(b, w.place(h)...)
	}
	w.buf = append(w.appendText(b, h), '\n')
	w.write(w.buf)
}

// place is written before the text of a hit.
func (w *hitWriter) place(h *grepLine) string {
	turn := ".."
	if h.hit.Turn > 0 {
		turn = strconv.Itoa(h.hit.Turn)
	}
	if w.heading {
		return w.format.style(styleDim, fmt.Sprintf("%5s %-11s ", turn, h.hit.Scope))
	}
	kind := "c"
	if h.isMatch {
		kind = "m"
	}
	return fmt.Sprintf("%s:%s:%s:%s:", w.id, turn, h.hit.Scope, kind)
}

// appendText appends the text of a hit, made safe piece by piece, so that styles are
// only around the matches and nothing recorded can add any. Tabs stay; a hit has no
// line breaks.
func (w *hitWriter) appendText(b []byte, h *grepLine) []byte {
	if !w.format.colour {
		return text.AppendVisible(b, h.Text)
	}
	if !h.isMatch {
		b = text.AppendVisible(append(b, styleDim...), h.Text)
		return append(b, styleReset...)
	}
	at := 0
	for s := range h.spans {
		b = text.AppendVisible(b, h.Text[at:s.Start])
		b = text.AppendVisible(append(b, styleMatch...), h.Text[s.Start:s.End])
		b = append(b, styleReset...)
		at = s.End
	}
	return text.AppendVisible(b, h.Text[at:])
}

// hitJSON writes a line as JSON. It may have millions of matches, which are written
// as they come.
func (w *hitWriter) hitJSON(h *grepLine) {
	o := object{
		"id", w.id, "turn", orNull(h.hit.Turn), "scope", h.hit.Scope.String(),
		"timestamp", h.hit.Time, "title", orNull(h.hit.Conversation.Title),
	}
	o = append(o, given("source", h.hit.Conversation.Source)...)
	o = append(o, "text", string(h.Text), "match", h.isMatch, "submatches", []object(nil))
	w.begin()
	w.part(bytes.TrimSuffix(appendValue(nil, o), []byte("]}")))
	before := ""
	for s := range h.spans {
		match := object{"match", string(h.Text[s.Start:s.End]), "start", s.Start, "end", s.End}
		w.part(appendValue([]byte(before), match))
		before = ","
	}
	end := object{"line", nil, "event", nil}
	if h.hit.Index >= 0 {
		end = object{"line", h.number, "event", h.hit.Index}
	}
	if h.Chars > 0 {
		end = append(end, "chars", h.Chars)
	}
	if h.hit.Number > 0 {
		end = append(end, "number", h.hit.Number)
	}
	w.part(append([]byte("],"), appendValue(nil, end)[1:]...))
}
