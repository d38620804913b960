package transcript

import (
	"fmt"
	"time"
)

// ParseTimestamp reads a recorded timestamp: "2006-01-02 15:04:05.999999999"
// without a zone, which means UTC, or RFC 3339. The fraction is optional;
// digits beyond nanoseconds are dropped. The result is in UTC, in the years 0 to
// 9999, which RFC 3339 can write.
func ParseTimestamp[T string | []byte](s T) (time.Time, error) {
	t, ok := parseTimestamp(s)
	if !ok {
		return time.Time{}, timestampError(string(s))
	}
	return t, nil
}

// InRange returns t, or the zero time where t is outside of the years 0 to 9999.
func InRange(t time.Time) time.Time {
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return time.Time{}
	}
	return t
}

func timestampError(s string) error {
	const shown = 64
	if len(s) > shown {
		s = s[:shown] + "…"
	}
	return fmt.Errorf("invalid timestamp %q: expected YYYY-MM-DD HH:MM:SS.f in UTC, or RFC 3339", s)
}

func parseTimestamp[T string | []byte](s T) (time.Time, bool) {
	const seconds = len("2006-01-02 15:04:05")
	if len(s) < seconds || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':' {
		return time.Time{}, false
	}
	if c := s[10]; c != ' ' && c != 'T' && c != 't' {
		return time.Time{}, false
	}
	year, ok1 := number(s[0:4])
	month, ok2 := number(s[5:7])
	day, ok3 := number(s[8:10])
	hour, ok4 := number(s[11:13])
	minute, ok5 := number(s[14:16])
	second, ok6 := number(s[17:19])
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6) || hour > 23 || minute > 59 || second > 60 {
		return time.Time{}, false
	}
	nanos, i, ok := fraction(s, seconds)
	if !ok {
		return time.Time{}, false
	}
	offset, ok := zoneOffset(s[i:])
	if !ok {
		return time.Time{}, false
	}
	midnight := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	// time.Date carries a day that the month does not have into the next one.
	if midnight.Month() != time.Month(month) || midnight.Day() != day {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute-offset, second, nanos, time.UTC)
	return t, 0 <= t.Year() && t.Year() <= 9999
}

// fraction reads an optional ".digits" at s[i:] and returns nanoseconds and the
// index behind it.
func fraction[T string | []byte](s T, i int) (nanos, end int, ok bool) {
	if i == len(s) || s[i] != '.' {
		return 0, i, true
	}
	i++
	start, scale := i, int(time.Second)
	for ; i < len(s) && '0' <= s[i] && s[i] <= '9'; i++ {
		scale /= 10
		nanos += int(s[i]-'0') * scale
	}
	return nanos, i, i > start
}

// zoneOffset reads nothing, "Z" or "±hh:mm" and returns minutes east of UTC.
func zoneOffset[T string | []byte](s T) (minutes int, ok bool) {
	switch {
	case len(s) == 0:
		return 0, true
	case len(s) == 1:
		return 0, s[0] == 'Z' || s[0] == 'z'
	case len(s) != len("+00:00") || s[0] != '+' && s[0] != '-' || s[3] != ':':
		return 0, false
	}
	h, ok1 := number(s[1:3])
	m, ok2 := number(s[4:6])
	if !ok1 || !ok2 || h > 23 || m > 59 {
		return 0, false
	}
	minutes = h*60 + m
	if s[0] == '-' {
		minutes = -minutes
	}
	return minutes, true
}

func number[T string | []byte](s T) (n int, ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || '9' < s[i] {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}
