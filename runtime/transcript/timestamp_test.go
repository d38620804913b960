package transcript_test

import (
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

func TestParseTimestamp(t *testing.T) {
	t.Parallel()
	utc := func(h, m, s, ns int) time.Time { return time.Date(2026, 5, 29, h, m, s, ns, time.UTC) }
	for s, want := range map[string]time.Time{
		"2026-05-29 19:42:36.46732":        utc(19, 42, 36, 467320000),
		"2026-05-29 19:42:36.0":            utc(19, 42, 36, 0),
		"2026-05-29 19:42:36":              utc(19, 42, 36, 0),
		"2026-05-29 19:42:36.123456789":    utc(19, 42, 36, 123456789),
		"2026-05-29 19:42:36.1234567899":   utc(19, 42, 36, 123456789),
		"2026-05-29T19:42:36Z":             utc(19, 42, 36, 0),
		"2026-05-29t19:42:36.5z":           utc(19, 42, 36, 500000000),
		"2026-05-29T19:42:36.467321+02:00": utc(17, 42, 36, 467321000),
		"2026-05-29T19:42:36-05:30":        time.Date(2026, 5, 30, 1, 12, 36, 0, time.UTC),
		"2024-02-29 00:00:00.0":            time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC),
		"2026-05-29 19:42:60":              utc(19, 43, 0, 0),
	} {
		got, err := transcript.ParseTimestamp(s)
		if err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("ParseTimestamp(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", "now", "2026-05-29", "2026-05-29 19:42", "2026-05-29_19:42:36", "2026-13-01 00:00:00",
		"2026-00-01 00:00:00", "2026-02-29 00:00:00", "2026-05-32 00:00:00", "2026-05-29 24:00:00", "2026-05-29 19:60:00",
		"2026-05-29 19:42:61", "2026-05-29 19:42:36.", "2026-05-29 19:42:36.x", "2026-05-29 19:42:36+0200",
		"9999-12-31T23:30:00-01:00", "9999-12-31 23:59:60", "0000-01-01T00:30:00+01:00", "2026-05-29 19:42:36+24:00", "2026-05-29 19:42:36 UTC", "2026-05-29 19:42:36.0 ", "+026-05-29 19:42:36",
		strings.Repeat("9", 1000),
	} {
		if got, err := transcript.ParseTimestamp(s); err == nil || !strings.Contains(err.Error(), "invalid timestamp") || len(err.Error()) > 300 {
			t.Errorf("ParseTimestamp(%.40q) = %v, %v; want a short error", s, got, err)
		}
	}
}
