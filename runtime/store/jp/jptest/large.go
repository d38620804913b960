package jptest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Needle is the word planted in large workspaces. It occurs nowhere else in them, in any
// case. Its letters k and s fold to characters outside ASCII too, so that a search that
// ignores case does its full work.
const Needle = "tidemarks"

// Shape says how large a workspace is.
type Shape struct {
	Bytes         int64 // the size of all files named events.json together, roughly
	Conversations int   // how many conversations it is spread over; at least 1
	NeedleEvery   int   // a needle in every n-th tool result; 0 plants none
}

// Content is what [Large] wrote.
type Content struct {
	Bytes   int64 // of all files named events.json
	Needles int   // tool results that hold the needle, once each, on one line
}

// Large writes a workspace for measurements to dir/.jp: mostly base64 of text that looks like
// source code. The same shape always gives the same files.
func Large(dir string, shape Shape) (content Content, err error) {
	if shape.Conversations < 1 {
		return content, errors.New("a large workspace needs at least one conversation")
	}
	w := New(dir, "large")
	if err := w.Write(); err != nil {
		return content, err
	}
	const firstID, hour = 17_620_000_000, 36_000 // tenths of a second
	r := rand.New(rand.NewPCG(1, 1))
	results := 0
	for i := range shape.Conversations {
		// Small and large ones are mixed, as in real use.
		size := int(shape.Bytes) / shape.Conversations * (50 + i%3*50) / 100
		c := newConversation(strconv.Itoa(firstID+i*hour), "feed").Title(fmt.Sprint("feed ", i))
		for call := 0; len(c.events) < size; call++ {
			if call%12 == 0 {
				c.TurnStart().User("Why does the request fail when two stations share one gauge?").
					Reasoning("First look at the model.").Assistant("The error names neither the station nor the minute.")
			}
			results++
			needle := ""
			if shape.NeedleEvery > 0 && results%shape.NeedleEvery == 0 {
				needle = []string{"tidemarks", "TIDEMARKS", "TideMarks", "tideMarks"}[content.Needles%4]
				content.Needles++
			}
			id := fmt.Sprintf("call_%d_%d", i, call)
			c.ToolCall(id, "fs_read_file", map[string]any{"path": fmt.Sprintf("internal/feed/file_%03d.go", call), "start_line": 1})
			c.ToolResult(id, largeText(r, min(200<<r.IntN(8), (size-len(c.events))*3/4), needle), false)
		}
		// Written one by one: the whole would not fit in memory.
		written, err := c.write(w.root)
		if err != nil {
			return content, err
		}
		content.Bytes += int64(written)
	}
	return content, nil
}

// largeText returns text like source code of about a size, with a needle in it unless that is
// empty.
func largeText(r *rand.Rand, size int, needle string) string {
	lines := []string{
		"func (s *Station) Height(t time.Time) (float64, error) { // ",
		"\t\treturn nil, fmt.Errorf(\"reading gauge %s: %w\", name, err) // ",
		"\tfor _, c := range s.constituents { sum += c.amplitude * math.Cos(c.speed*hours+c.phase) } // ",
		"}\n\n// ",
		"\tvar buckets [1440]reading // ",
		"\t\"café\", \"smørbrød\", \"潮汐\", \"naïve\", // ",
	}
	var text strings.Builder
	if needle != "" {
		text.WriteString("\t// see " + needle + " before changing this\n")
	}
	for text.Len() < size {
		fmt.Fprintf(&text, "%s%d\n", lines[r.IntN(len(lines))], r.IntN(100_000))
	}
	return text.String()
}
