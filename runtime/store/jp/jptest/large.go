package jptest

import (
	"errors"
	"fmt"
	"strconv"
)

// Needle is the word planted in large workspaces. It occurs nowhere else in
// them, in any case. Its letters k and s fold to characters outside ASCII too,
// so that a search that ignores case does its full work.
const Needle = "tidemarks"

// needleForms are the spellings in which the needle is planted, in turn.
var needleForms = [...]string{"tidemarks", "TIDEMARKS", "TideMarks", "tideMarks"}

// Shape says how large a workspace is.
type Shape struct {
	Bytes         int64  // the size of all files named events.json together, roughly; at least 4 KiB a conversation
	Conversations int    // how many conversations it is spread over; at least 1
	NeedleEvery   int    // a needle in every n-th tool result; 0 plants none
	Seed          uint64 // another seed gives another text
}

// Content is what Large wrote.
type Content struct {
	Bytes   int64 // of all files named events.json
	Events  int
	Results int // tool results
	Needles int // tool results that hold the needle, once each, on one line
}

// Conversation sizes and tool result sizes come in these proportions, so that
// small and large ones are mixed as in real use. largeWeights average to 1.
var (
	largeWeights = [...]float64{0.25, 2, 0.5, 1, 1.5, 0.5, 1, 0.75, 1.5, 1}
	resultSizes  = [...]int{700, 1500, 300, 9000, 700, 4000, 45_000, 200, 2500, 12_000}
)

const (
	largeFirstID  = 17_620_000_000 // 2025-11-01T12:26:40Z
	largeIDStep   = 36_000         // one hour
	resultsATurn  = 12             // tool results before the next request
	minLargeBytes = 4 << 10
)

// Large writes a workspace for measurements to dir/.jp: mostly base64 of text
// that looks like source code. The same shape always gives the same files.
func Large(dir string, shape Shape) (Content, error) {
	switch {
	case shape.Conversations < 1:
		return Content{}, errors.New("large workspace: needs at least one conversation")
	case shape.Bytes/int64(shape.Conversations) < minLargeBytes:
		return Content{}, fmt.Errorf("large workspace: %d bytes are too few for %d conversations: needs at least %d bytes each",
			shape.Bytes, shape.Conversations, minLargeBytes)
	case shape.NeedleEvery < 0:
		return Content{}, fmt.Errorf("large workspace: a needle in every %d-th tool result makes no sense", shape.NeedleEvery)
	}
	w := New(dir, "large")
	if err := w.Write(); err != nil {
		return Content{}, fmt.Errorf("large workspace: %w", err)
	}
	g := generator{shape: shape, random: random(shape.Seed)}
	mean := float64(shape.Bytes) / float64(shape.Conversations)
	for i := range shape.Conversations {
		// Written one by one: the whole would not fit in memory.
		c := g.conversation(i, int(mean*largeWeights[i%len(largeWeights)]))
		if err := c.write(w.Root()); err != nil {
			return Content{}, fmt.Errorf("large workspace: conversation %s: %w", c.ID(), err)
		}
	}
	return g.content, nil
}

// generator makes the conversations of a large workspace.
type generator struct {
	shape   Shape
	random  random
	content Content
	text    []byte
}

// conversation returns the n-th conversation, with size bytes of events.
func (g *generator) conversation(n, size int) *Conversation {
	topic := topics[n%len(topics)]
	c := newConversation(strconv.Itoa(largeFirstID+n*largeIDStep), topic).
		Title(fmt.Sprintf("%s %d", topic, n))
	const (
		overhead = 420 // bytes a call and its result take besides the content
		smallest = 64
	)
	written := 0
	for i := 0; written < size; i++ {
		if i%resultsATurn == 0 {
			if i > 0 {
				c.Assistant("That was " + g.sentence() + "\n\n" + g.sentence())
			}
			c.TurnStart().User("Look at " + topic + ": " + g.sentence())
			c.Reasoning("First " + g.sentence())
		}
		want := resultSizes[g.random.below(len(resultSizes))]
		want = max(smallest, min(want, (size-written-overhead)*3/4))
		id := fmt.Sprintf("call_%d_%d", n, i)
		c.ToolCall(id, "fs_read_file", map[string]any{
			"path":       fmt.Sprintf("internal/%s/file_%03d.go", topic, i),
			"start_line": 1,
		})
		result := g.result(want)
		c.ToolResult(id, result, false)
		written += overhead + len(result)*4/3
	}
	c.Assistant("Done. " + g.sentence())
	g.content.Events += len(c.events)
	g.content.Bytes += int64(c.eventsSize())
	return c
}

// result returns source-like text of about size bytes.
func (g *generator) result(size int) string {
	g.content.Results++
	needleAt := -1
	if n := g.shape.NeedleEvery; n > 0 && g.content.Results%n == 0 {
		needleAt = g.random.below(size)
	}
	g.text = g.text[:0]
	for len(g.text) < size {
		if needleAt >= 0 && len(g.text) >= needleAt {
			g.text = append(g.text, "\t// see "...)
			g.text = append(g.text, needleForms[g.content.Needles%len(needleForms)]...)
			g.text = append(g.text, " before changing this\n"...)
			g.content.Needles++
			needleAt = -1
		}
		g.text = append(g.text, codeLines[g.random.below(len(codeLines))]...)
		g.text = strconv.AppendUint(g.text, g.random.next()%100_000, 10)
		g.text = append(g.text, '\n')
	}
	if needleAt >= 0 {
		g.text = append(g.text, needleForms[g.content.Needles%len(needleForms)]...)
		g.text = append(g.text, '\n')
		g.content.Needles++
	}
	return string(g.text)
}

func (g *generator) sentence() string {
	return sentences[g.random.below(len(sentences))]
}

// random is SplitMix64. It is spelled out because the sequences of math/rand are
// not promised to stay the same in future releases of Go.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

var topics = [...]string{"feed", "tide", "stations", "cache", "export", "charts", "alerts", "web"}

var sentences = [...]string{
	"the request fails when two stations share one gauge, and only then.",
	"every reading should be stored once, even if the feed sends it twice.",
	"the page must not wait for the model; it can show the last known value.",
	"we agreed to keep the interface small and to measure before changing it.",
	"the error text should name the station, the minute and what to do next.",
	"größere Häfen melden öfter, kleinere nur einmal pro Stunde — bitte prüfen.",
	"what happens at midnight UTC, and what on the day a leap second is added?",
}

// codeLines are followed by a number each.
var codeLines = [...]string{
	"package station // revision ",
	"import \"harbour/internal/feed\" // line ",
	"// Height returns the height above chart datum in metres, at index ",
	"func (s *Station) Height(t time.Time) (float64, error) { // ",
	"\tif err := ctx.Err(); err != nil { return 0, err } // ",
	"\t\treturn nil, fmt.Errorf(\"reading gauge %s: %w\", name, err) // ",
	"\tfor _, c := range s.constituents { sum += c.amplitude * math.Cos(c.speed*hours+c.phase) } // ",
	"\tdefer mu.Unlock() // ",
	"}\n\n// ",
	"\tconst maxReadings = ",
	"\tvar buckets [1440]reading // ",
	"\tlogger.Info(\"poll finished\", \"gauge\", gauge, \"readings\", len(readings)) // ",
	"\tswitch { case a < b && !done: next(); default: wait() } // ",
	"\t\t{name: \"neap tide\", at: \"2026-02-25T11:40:00Z\", want: 1.12}, // case ",
	"\trow := db.QueryRowContext(ctx, `SELECT latitude, longitude FROM stations WHERE id = $1`, id) // ",
	"\t\"café\", \"smørbrød\", \"潮汐\", \"naïve\", // ",
	"\tassert.Equal(t, want, got) // ",
	"\treturn value, nil // ",
}
