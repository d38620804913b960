package jptest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Needle occurs in one of a hundred tool results of large workspaces, and nowhere else. k and s
// also fold to characters outside ASCII, so that a search that ignores case does all of its work.
const Needle = "tidemarks"

// Large writes a workspace for measurements to dir/.jp. The size is that of all events, roughly:
// mostly base64 of text like source code.
func Large(dir string, size int64, conversations int) error {
	w := New(dir, "large")
	err := w.Write()
	const firstID, hour = 17_620_000_000, 36_000 // tenths of a second
	r := rand.New(rand.NewPCG(1, 1))
	for i := 0; i < conversations && err == nil; i++ {
		size := int(size) / conversations * (50 + i%3*50) / 100 // 50, 100 or 150 percent of the average
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
		err = c.write(w.root) // one by one: the whole would not fit in memory
	}
	return err
}

// largeText returns text like source code of about a size.
func largeText(r *rand.Rand, size int) string {
	text := []byte("\tvar café, smørbrød, 潮汐 [1440]reading\n")
	if r.IntN(100) == 0 {
		text = append(text, "\t// see "+Needle+" before changing this\n"...)
	}
	for len(text) < size {
		text = fmt.Appendf(text, "\tfor _, c := range s.constituents[%d:] { sum += c.amplitude * math.Cos(c.speed*hours+c.phase) }\n", r.IntN(100_000))
	}
	return string(text)
}
