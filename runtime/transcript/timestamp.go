package transcript

import (
	"fmt"
	"strings"
	"time"
)

// ParseTimestamp returns the time of a recorded timestamp: "2006-01-02 15:04:05.999999999" without a zone, which means
// UTC, or RFC 3339. The fraction is optional; digits beyond nanoseconds are dropped. The result is in UTC, in the years
// 0 to 9999, which RFC 3339 can write.
func ParseTimestamp[T string | []byte](s T) (time.Time, error) {
	const most, day = 64, 24 * 60 * 60         // characters of a timestamp, and seconds of a day
	const seconds = len("2006-01-02 15:04:05") // the fraction and the zone follow them
	bad := func() (time.Time, error) {
		return time.Time{}, fmt.Errorf("invalid timestamp %.*q: expected YYYY-MM-DD HH:MM:SS.f in UTC, or RFC 3339", most, string(s[:min(len(s), most)]))
	}
	if len(s) < seconds || len(s) > most || s[13] != ':' || !strings.ContainsRune(" Tt", rune(s[10])) {
		return bad() // s[13] follows an hour of two digits; time.Parse also accepts one digit
	}
	var buffer [most + 1]byte // one more for the zone
	b := append(buffer[:0], s...)
	b[10] = 'T'
	if rest := string(b[seconds:]); strings.HasSuffix(rest, "z") {
		b[len(b)-1] = 'Z'
	} else if !strings.ContainsAny(rest, "Z+-") {
		b = append(b, 'Z')
	}
	var leap time.Duration // a second if the seconds are 60, a leap second: time.Parse accepts only up to 59
	if string(b[17:seconds]) == "60" {
		copy(b[17:], "59")
		leap = time.Second
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if _, offset := t.Zone(); err != nil || offset <= -day || offset >= day { // time.Parse accepts a zone of 24 hours
		return bad()
	}
	t = t.Add(leap)
	if InRange(t).IsZero() { // the year is outside the range
		return bad()
	}
	return t.UTC(), nil
}

// InRange returns t, or the zero time if t is outside the years 0 to 9999.
func InRange(t time.Time) time.Time {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return time.Time{}
	}
	return t
}
