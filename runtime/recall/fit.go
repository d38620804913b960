package recall

import "github.com/convtools/convtools/runtime/envelope"

// appender is any generated envelope.
type appender interface{ Append(w *envelope.Writer) }

// chars is how long an envelope is, in the characters that caps count.
func chars(e appender) int {
	var w envelope.Writer
	e.Append(&w)
	return envelope.Chars(w.Bytes())
}

// fit returns the envelope with as many of n items as keep it within the cap.
// Longer prefixes make longer envelopes, but for a note more or less, so a
// search by halves is near the mark and the rest is counted down.
func fit[E appender](n, limit int, build func(int) E) E {
	whole := build(n)
	if chars(whole) <= limit {
		return whole
	}
	low, high := 0, n // low fits or is 0, high does not
	for high-low > 1 {
		middle := (low + high) / 2
		if chars(build(middle)) <= limit {
			low = middle
		} else {
			high = middle
		}
	}
	for low > 0 && chars(build(low)) > limit {
		low--
	}
	return build(low)
}
