package jptest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Needle is in one of a hundred tool results of large workspaces, and nowhere else in them.
// Its letters k and s fold to characters outside ASCII too, so that a search that ignores case
// does its full work.
const Needle = "tidemarks"

// Large writes a workspace for measurements to dir/.jp, with events of a size, roughly, in
// some conversations: mostly base64 of text that looks like source code. It always gives the
// same files.
func Large(dir string, size int64, conversations int) error {
	w := New(dir, "large")
	if err := w.Write(); err != nil {
		return err
	}
	const firstID, hour = 17_620_000_000, 36_000 // tenths of a second
	r := rand.New(rand.NewPCG(1, 1))
	for i := range conversations {
		// Small and large ones are mixed, as in real use.
		size := int(size) / conversations * (50 + i%3*50) / 100
		c := newConversation(strconv.Itoa(firstID+i*hour), "feed").Title(fmt.Sprint("feed ", i))
		for call := 0; len(c.events) < size; call++ {
			if call%12 == 0 {
				c.TurnStart().User("Why does the request fail when two stations share one gauge?").
					Reasoning("First look at the model.").Assistant("The error names neither the station nor the minute.")
			}
			id := fmt.Sprintf("call_%d_%d", i, call)
			c.ToolCall(id, "fs_read_file", map[string]any{"path": fmt.Sprintf("internal/feed/file_%03d.go", call), "start_line": 1})
			c.ToolResult(id, largeText(r, min(200<<r.IntN(8), (size-len(c.events))*3/4)), false)
		}
		// Written one by one: the whole would not fit in memory.
		if err := c.write(w.root); err != nil {
			return err
		}
	}
	return nil
}

// largeText returns text like source code of about a size.
func largeText(r *rand.Rand, size int) string {
	lines := []string{
		"func (s *Station) Height(t time.Time) (float64, error) { // ",
		"\t\treturn nil, fmt.Errorf(\"reading gauge %s: %w\", name, err) // ",
		"\tfor _, c := range s.constituents { sum += c.amplitude * math.Cos(c.speed*hours+c.phase) } // ",
		"}\n\n// ",
		"\tvar buckets [1440]reading // ",
		"\t\"café\", \"smørbrød\", \"潮汐\", \"naïve\", // ",
	}
	var text strings.Builder
	if r.IntN(100) == 0 {
		text.WriteString("\t// see " + Needle + " before changing this\n")
	}
	for text.Len() < size {
		fmt.Fprintf(&text, "%s%d\n", lines[r.IntN(len(lines))], r.IntN(100_000))
	}
	return text.String()
}
