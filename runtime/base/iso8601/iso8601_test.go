package iso8601_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/base/iso8601"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const day, end = "2024-01-15T00:00:00Z", "2024-01-15T23:59:59.999999999Z"
	at := func(s string) [2]string { return [2]string{s, s} }
	tests := map[string][2]string{
		// Dates without a time end with their last instant.
		"2024-01-15":       {day, end},
		" 2024-01-15\n":    {day, end},
		"20240115":         {day, end},
		"2024-W03-1":       {day, end},
		"2024W031":         {day, end},
		"2024-W03":         {day, "2024-01-21T23:59:59.999999999Z"},
		"2024W03":          {day, "2024-01-21T23:59:59.999999999Z"},
		"2024-W01":         {"2024-01-01T00:00:00Z", "2024-01-07T23:59:59.999999999Z"},
		"2020-W53-7":       {"2021-01-03T00:00:00Z", "2021-01-03T23:59:59.999999999Z"},
		"2024-01-15Z":      {day, end},
		"2024-01-15z":      {day, end},
		"20240115Z":        {day, end},
		"2024-W03-1Z":      {day, end},
		"2024-01-15+02:00": {"2024-01-14T22:00:00Z", "2024-01-15T21:59:59.999999999Z"},
		"2024-01-15-0500":  {"2024-01-15T05:00:00Z", "2024-01-16T04:59:59.999999999Z"},
		"20240115-05":      {"2024-01-15T05:00:00Z", "2024-01-16T04:59:59.999999999Z"},
		"2024-W03-05:00":   {"2024-01-15T05:00:00Z", "2024-01-22T04:59:59.999999999Z"},
		"2024-02-29":       {"2024-02-29T00:00:00Z", "2024-02-29T23:59:59.999999999Z"},
		"0001-01-01":       {"0001-01-01T00:00:00Z", "0001-01-01T23:59:59.999999999Z"},
		"9999-12-31":       {"9999-12-31T00:00:00Z", "9999-12-31T23:59:59.999999999Z"},
		// Dates with a time are one instant.
		"2024-01-15T14":                       at("2024-01-15T14:00:00Z"),
		"2024-01-15T14:30":                    at("2024-01-15T14:30:00Z"),
		"2024-01-15T14:30:00":                 at("2024-01-15T14:30:00Z"),
		"2024-01-15T14:30:00Z":                at("2024-01-15T14:30:00Z"),
		"2024-01-15t14:30:00z":                at("2024-01-15T14:30:00Z"),
		"2024-01-15 14:30:00":                 at("2024-01-15T14:30:00Z"),
		"2024-01-15_14:30":                    at("2024-01-15T14:30:00Z"),
		"2024-01-15\u00a014:30":               at("2024-01-15T14:30:00Z"),
		"2024-01-15T00:00":                    at(day),
		"2024-01-15T14:30:00+02:00":           at("2024-01-15T12:30:00Z"),
		"2024-01-15T14:30:00+0200":            at("2024-01-15T12:30:00Z"),
		"2024-01-15T14:30+02":                 at("2024-01-15T12:30:00Z"),
		"2024-01-15T14:30:00-05:00":           at("2024-01-15T19:30:00Z"),
		"2024-01-15 14:30:00-05:00":           at("2024-01-15T19:30:00Z"),
		"2024-01-15T14:30:00 +02:00":          at("2024-01-15T12:30:00Z"),
		"2024-01-15T14:30:00+02:00:30":        at("2024-01-15T12:29:30Z"),
		"2024-01-15T14-05:00":                 at("2024-01-15T19:00:00Z"),
		"20240115T143000":                     at("2024-01-15T14:30:00Z"),
		"20240115T1430":                       at("2024-01-15T14:30:00Z"),
		"20240115T14:30Z":                     at("2024-01-15T14:30:00Z"),
		"2024-W03-1T14:30":                    at("2024-01-15T14:30:00Z"),
		"2024W031T1430":                       at("2024-01-15T14:30:00Z"),
		"2024-W03T14:30":                      at("2024-01-15T14:30:00Z"),
		"2024-01-15T14:30:00.5":               at("2024-01-15T14:30:00.5Z"),
		"2024-01-15T14:30:00,5":               at("2024-01-15T14:30:00.5Z"),
		"2024-01-15T14:30:00.123456":          at("2024-01-15T14:30:00.123456Z"),
		"2024-01-15T14:30:00.1234567":         at("2024-01-15T14:30:00.1234567Z"),
		"2024-01-15T14:30:00.1234567891Z":     at("2024-01-15T14:30:00.123456789Z"),
		"0001-01-01T00:00:00+23:59":           at("0000-12-31T00:01:00Z"),
		"9999-12-31T23:59:59.999999999-23:59": at("10000-01-01T23:58:59.999999999Z"),
	}
	for in, want := range tests {
		got, err := iso8601.Parse(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		const layout = "2006-01-02T15:04:05.999999999Z07:00"
		if first, last := got.First.Format(layout), got.Last.Format(layout); first != want[0] || last != want[1] {
			t.Errorf("%q is %s to %s, want %s to %s", in, first, last, want[0], want[1])
		}
	}
}

func TestNoDate(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", " ", "not-a-date", "today", "2024", "2024-01", "2024-1-5", "2024/01/15", "2024-13-01", "2024-00-01", "2024-02-30",
		"2023-02-29", "2024-01-00", "2024-0115", "202401-15", "0000-01-01", "1705276800", "1705276800.5", "-2024-01-15", "+2024-01-15",
		"2024-01-15T", "2024-01-15T24:00:00", "2024-01-15T14:60", "2024-01-15T14:30:60", "2024-01-15T1", "2024-01-15T14:3",
		"2024-01-15T14:30:", "2024-01-15T14:", "2024-01-15T14:30:00.", "2024-01-15T14:30:00.x", "2024-01-15T14:30 UTC", "2024-01-15 UTC",
		"2024-01-15T14:30:00+24:00", "2024-01-15T14:30:00+02:60", "2024-01-15T14:30:00+", "2024-01-15T14:30:00ZZ", "2024-01-15T14:30:00+2",
		"2024-W00", "2024-W54", "2024-W53", "2024-W03-0", "2024-W03-8", "2024W030", "2024-W3", "2024-w03", "2024-015", "2024015",
		"２０２４-01-15", "2024-01-15T１4:30", "2024-01-15T14:30:00\u2212 05:00", "2024-01-15x", "2024-01-1514:30", "2024-01-15  14:30", "2024-01-15TT14:30",
		"2024-01-15T14:30/2024-01-16", "2024-01-15T14:30:00.5.5", "2024-01-15\x0014:3", "2024-01-15T14:30\x00",
	} {
		if got, err := iso8601.Parse(in); !errors.Is(err, iso8601.ErrForm) {
			t.Errorf("%q is %v to %v, %v", in, got.First, got.Last, err)
		}
	}
}

// Every form of an instant is parsed as that instant.
func TestParseWritten(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 12))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	for range 20_000 {
		offset := time.Duration(rng.IntN(2*86399)-86399) * time.Second
		zone := time.FixedZone("", int(offset/time.Second))
		at := time.Date(1+rng.IntN(9998), time.Month(1+rng.IntN(12)), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(60), rng.IntN(1e9), zone)
		year, week := at.ISOWeek()
		day := (int(at.Weekday())+6)%7 + 1
		date := pick(at.Format("2006-01-02"), at.Format("20060102"), fmt.Sprintf("%04d-W%02d-%d", year, week, day), fmt.Sprintf("%04dW%02d%d", year, week, day))
		if year < 1 || year > 9999 {
			continue
		}
		h := offset.Abs()
		sign := "+"
		if offset < 0 {
			sign = "-"
		}
		written := date + pick("T", "t", " ") + pick(at.Format("15:04:05.000000000"), at.Format("150405,000000000")) + pick("", " ") +
			fmt.Sprintf("%s%02d:%02d:%02d", sign, int(h.Hours()), int(h.Minutes())%60, int(h.Seconds())%60)
		got, err := iso8601.Parse(written)
		if err != nil || !got.First.Equal(at) || !got.Last.Equal(at) {
			t.Fatalf("%q is %v, %v, want %v", written, got, err, at)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"2024-01-15", "2024-W03-1T14:30:00,5 +02:00:30", "20240115T143000Z", "2024-01-15\xff14:30"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := iso8601.Parse(s)
		if err != nil {
			return
		}
		if got.Last.Before(got.First) || got.Last.Sub(got.First) >= 7*24*time.Hour {
			t.Errorf("%q: %v", s, got)
		}
		if again, err := iso8601.Parse(" " + s + "\t"); err != nil || again != got {
			t.Errorf("%q with white space around it: %v, %v", s, again, err)
		}
		// What Go parses as RFC 3339 is the same instant here.
		if at, err := time.Parse(time.RFC3339Nano, s); err == nil && !at.Equal(got.First) {
			t.Errorf("%q: %v, want %v", s, got.First, at)
		}
	})
}
