package conversationcli

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// terminalMaxLine is how many characters of a line a terminal is shown unless --max-line
// says otherwise.
const terminalMaxLine = 1000

// hitWriter writes what a search finds, in one of the forms of --output.
type hitWriter struct {
	*grepping
	found *conversations.Results

	event, line int                      // of the line written before below this conversation; 0 for none
	shown       []*conversations.Matched // the conversations that were written
	returned    int                      // matching lines
}

// grepLine is a line that is written: one that matches, or one around that.
type grepLine struct {
	hit     *conversations.Hit
	number  int // in the text of the event, from 1
	isMatch bool
	excerpt.Window
	spans iter.Seq[excerpt.Span] // the matches in it
}

// writeAll writes what was found, as far as the options ask for it.
func (w *hitWriter) writeAll(ctx context.Context) error {
	hits := w.found.Hits
	for _, c := range w.found.Conversations {
		n := 0
		for n < len(hits) && hits[n].Conversation == c {
			n++
		}
		of := hits[:n]
		hits = hits[n:]
		room := c.Matches
		if w.maxMatches > 0 {
			room = min(room, w.maxMatches)
		}
		if w.maxHits > 0 {
			room = min(room, w.maxHits-w.returned)
		}
		if room == 0 || w.limit > 0 && len(w.shown) == w.limit {
			return nil
		}
		w.returned += room
		w.shown = append(w.shown, c)
		w.conversation(ctx, c, room)
		for i := 0; i < n && room > 0 && (w.output == "hits" || w.output == "text"); i++ {
			var err error
			if room, err = w.writeEvent(&of[i], room); err != nil {
				return err
			}
		}
	}
	return w.out.err
}

// conversation begins a conversation; n is how many lines follow.
func (w *hitWriter) conversation(ctx context.Context, m *conversations.Matched, n int) {
	w.event = -2 // follows no event
	f := w.out.format
	switch {
	case w.output == "count":
		w.out.add(fmt.Sprintf("%s:%d\n", m.ID, n), object{"id", m.ID, "count", n})
	case w.output == "ids":
		w.out.add(string(m.ID)+"\n", m.ID)
	case w.output == "hits" && !f.json && w.heading:
		heading := f.style(styleID, w.linked(ctx, m.ID))
		if m.Title != "" {
			heading += "  " + text.Cell(m.Title)
		}
		if len(w.shown) > 1 {
			heading = "\n" + heading
		}
		w.line = 0
		w.out.write(heading + "\n")
	}
}

// writeEvent writes at most room matching lines of an event, and those around them, and
// returns how much room is left.
func (w *hitWriter) writeEvent(h *conversations.Hit, room int) (left int, err error) {
	content, err := w.found.Read(h)
	if err != nil {
		return 0, err
	}
	left = room
	for l := range w.Pattern.Lines(content.Text, w.context, room) {
		line := content.Text[l.Start:l.End]
		out := grepLine{hit: h, number: l.Number, isMatch: l.IsMatch, spans: func(func(excerpt.Span) bool) {}}
		if l.IsMatch {
			left--
			out.spans = w.Pattern.Spans(line)
		}
		if out.Window = w.Pattern.Window(line, w.maxLine, 1, l.IsMatch); out.Chars > 0 {
			out.spans = slices.Values(out.Matches)
		}
		w.hit(&out)
	}
	return left, w.out.err
}

// hit writes one line.
func (w *hitWriter) hit(h *grepLine) {
	switch f := w.out.format; {
	case f.json && w.output == "text":
		w.out.add("", string(h.Text))
		return
	case f.json:
		w.out.add("", hitObject(h))
		return
	}
	if w.context > 0 && w.line > 0 && (h.hit.Index != w.event || h.number != w.line+1) {
		w.out.write("--\n")
	}
	w.event, w.line = h.hit.Index, h.number
	if w.output == "hits" {
		w.out.write(w.place(h))
	}
	w.out.write(string(append(w.marked(h), '\n')))
}

// place is written before the text of a hit.
func (w *hitWriter) place(h *grepLine) string {
	turn := ".."
	if h.hit.Turn > 0 {
		turn = fmt.Sprint(h.hit.Turn)
	}
	if w.heading {
		return w.out.format.style(styleDim, fmt.Sprintf("%5s %-11s ", turn, h.hit.Scope))
	}
	return fmt.Sprintf("%s:%s:%s:%s:", h.hit.Conversation.ID, turn, h.hit.Scope, map[bool]string{true: "m", false: "c"}[h.isMatch])
}

// marked is the text of a hit, made safe piece by piece, so that styles are only around
// the matches and nothing recorded can add any. Tabs stay; a hit has no line breaks.
func (w *hitWriter) marked(h *grepLine) []byte {
	switch {
	case !w.out.format.colour:
		return text.AppendVisible(nil, h.Text)
	case !h.isMatch:
		return append(text.AppendVisible([]byte(styleDim), h.Text), styleReset...)
	}
	var b []byte
	at := 0
	for s := range h.spans {
		b = append(text.AppendVisible(b, h.Text[at:s.Start]), styleMatch...)
		b = append(text.AppendVisible(b, h.Text[s.Start:s.End]), styleReset...)
		at = s.End
	}
	return text.AppendVisible(b, h.Text[at:])
}

// submatch is a match in a line, as JSON has it.
type submatch struct {
	Match string `json:"match"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// hitObject is a line as JSON has it.
func hitObject(h *grepLine) object {
	var matches []submatch
	for s := range h.spans {
		matches = append(matches, submatch{string(h.Text[s.Start:s.End]), s.Start, s.End})
	}
	c := h.hit.Conversation
	o := object{"id", c.ID, "turn", orNull(h.hit.Turn), "scope", h.hit.Scope.String(), "timestamp", h.hit.Time, "title", orNull(c.Title)}
	o = append(o, given("source", c.Source)...)
	o = append(o, "text", string(h.Text), "match", h.isMatch, "submatches", matches)
	if h.hit.Index >= 0 {
		o = append(o, "line", h.number, "event", h.hit.Index)
	} else {
		o = append(o, "line", nil, "event", nil)
	}
	if h.Chars > 0 {
		o = append(o, "chars", h.Chars)
	}
	if h.hit.Number > 0 {
		o = append(o, "number", h.hit.Number)
	}
	return o
}

// sumUp writes the totals of a search.
func (w *hitWriter) sumUp(left []object) {
	sum := object{"matches", w.found.Total, "returned", w.returned, "searched", w.found.Searched}
	if w.found.Own > 0 {
		sum = append(sum, "excluded_tool_matches", w.found.Own)
	}
	shown := objects(w.shown, func(m *conversations.Matched) object {
		return about(m.ID, m.Title, "matches", m.Matches, "turns", m.Size.Turns)
	})
	sum = append(sum, "conversations", shown, "conversations_matched", len(w.found.Conversations),
		"excluded", w.found.Aside.Excluded, "skipped", left)
	w.out.add("", object{"summary", sum})
}
