package history

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/transcript"
)

// mostSeconds is a time after the year 9999 in seconds since 1970, and in 1978 in milliseconds.
const mostSeconds = 1 << 38

// Moment returns the time that a number or a text says: seconds or, for a large whole number, milliseconds since 1970,
// or a text in ISO 8601. It is zero for the number 0, for other values, and for times outside the years 0 to 9999.
func Moment(value any) time.Time {
	const maxTime = 64 // bytes
	switch v := value.(type) {
	case int64:
		if v >= mostSeconds {
			return transcript.InRange(time.UnixMilli(v).UTC())
		}
		return seconds(float64(v))
	case float64:
		return seconds(v)
	case []byte:
		return Moment(string(v))
	case string:
		text := strings.TrimSpace(v)
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return seconds(n)
		}
		if span, err := iso8601.Parse(text[:min(len(text), maxTime)]); err == nil {
			return transcript.InRange(span.First)
		}
	}
	return time.Time{}
}

// seconds returns the time n seconds after 1970 began, rounded to microseconds, since a float64 is not more exact. It
// returns the zero time if n is 0, not a number, or a time outside the years 0 to 9999.
func seconds(n float64) time.Time {
	if isTime := n != 0 && math.Abs(n) < mostSeconds; !isTime { // also for NaN
		return time.Time{}
	}
	return transcript.InRange(time.UnixMicro(int64(math.Round(n * 1e6))).UTC())
}
