package messagedb

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// moment returns the time that a recorded value is: seconds since 1970 as a number or as
// text, or ISO 8601; the zero time for what is none, or out of the years 0 to 9999.
func moment(value any) time.Time {
	switch v := value.(type) {
	case int64:
		return seconds(float64(v))
	case float64:
		return seconds(v)
	case []byte:
		return momentOf(string(v))
	case string:
		return momentOf(v)
	}
	return time.Time{}
}

func momentOf(text string) time.Time {
	const most = 64
	text = strings.TrimSpace(text)
	if text == "" || len(text) > most {
		return time.Time{}
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return seconds(n)
	}
	if t, err := transcript.ParseTimestamp(text); err == nil {
		return t
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04", "20060102T150405Z07:00", "20060102"} {
		if t, err := time.Parse(layout, text); err == nil {
			return transcript.InRange(t.UTC())
		}
	}
	return time.Time{}
}

// seconds returns the time of so many seconds since 1970, to the microsecond: a float
// does not have more.
func seconds(n float64) time.Time {
	const most = 1 << 38 // the year 9999 is before
	if !(math.Abs(n) < most) {
		return time.Time{}
	}
	whole := math.Floor(n)
	micros := math.Round((n - whole) * 1e6)
	return transcript.InRange(time.Unix(int64(whole), int64(micros)*1000).UTC())
}
