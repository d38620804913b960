package conversationcli

import (
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/toolset"
)

func TestParseAge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, want string
		ok         bool
	}{
		{"5h", "5h0m0s", true},
		{"2d", "48h0m0s", true},
		{"90m", "1h30m0s", true},
		{"3weeks", "504h0m0s", true},
		{"3 weeks", "504h0m0s", true},
		{"1w 2d", "", false},
		{"", "", false},
		{"5", "", false},
		{"h", "", false},
		{"5x", "", false},
		{"-5h", "", false},
		{"99999999999y", "", false},
		{"999999999999999999999h", "", false},
		{"400y", "", false},
	}
	for _, tt := range tests {
		got, err := parseAge(tt.text)
		if (err == nil) != tt.ok || tt.ok && got.String() != tt.want {
			t.Errorf("parseAge(%q) = %v, %v; want %s, %t", tt.text, got, err, tt.want, tt.ok)
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		t.Helper()
		parsed, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for _, test := range []struct{ then, now, want string }{
		{"2025-04-01 00:00", "2026-03-05 00:00", "11 months ago"}, // 338 days
		{"2025-03-06 12:00", "2026-03-05 12:00", "11 months ago"}, // 364 days
		{"2025-03-05 12:00", "2026-03-05 11:59", "11 months ago"},
		{"2025-03-05 12:00", "2026-03-05 12:00", "1 year ago"},
		{"2024-02-29 12:00", "2026-02-28 12:00", "2 years ago"},
		{"2026-01-01 00:00", "2026-01-31 00:00", "4 weeks ago"}, // 30 days
		{"2026-01-31 00:00", "2026-03-01 00:00", "4 weeks ago"},
		{"2026-02-01 00:00", "2026-03-04 12:00", "1 month ago"},
		{"2025-12-31 23:00", "2026-01-01 01:00", "2 hours ago"},
		{"2026-01-01 00:00", "2026-01-08 00:00", "1 week ago"},
		{"2026-01-01 00:00", "2026-01-03 00:00", "2 days ago"},
		{"2026-01-01 00:00", "2026-01-01 00:00", "just now"},
		{"2026-01-01 00:02", "2026-01-01 00:00", "in 2 minutes"},
	} {
		c := commands{host: &toolset.Host{Now: func() time.Time { return at(test.now) }}}
		if got := c.age(at(test.then)); got != test.want {
			t.Errorf("%s, on %s: %q, want %q", test.then, test.now, got, test.want)
		}
	}
}
