// Package iso8601 reads dates, and dates with a time of day, in the forms of ISO 8601 that
// people and programs write. It never guesses: what has no such form is an error, and so is
// a day, or a time of day, that there is not.
package iso8601

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrForm is the error for a text that is no date of a known form.
var ErrForm = errors.New("not a date in a form of ISO 8601")

// Span is what a date stands for, from its first to its last instant, both inclusive and in
// UTC. With a time of day the two are equal.
type Span struct{ First, Last time.Time }

// Parse reads a date: of the calendar, 2024-01-15 or 20240115, or of a week, 2024-W03-1,
// 2024W031, or all of the week as 2024-W03 or 2024W03. Behind T, t, a blank or any one
// character that is no digit may follow a time of day: 14, 14:30, 1430, 14:30:59, 143059,
// the seconds with a fraction behind . or ,. Behind it, or right behind the date, may follow
// the offset from UTC: Z, z, +02, +0200, +02:00 or +02:00:30, of either sign. Without one it
// is UTC. White space around it and before the offset does not matter. Digits beyond
// nanoseconds are dropped. Years are 0001 to 9999.
func Parse(s string) (Span, error) {
	r := reader{rest: strings.TrimSpace(s)}
	first, days := r.date()
	if r.rest == "" || r.atOffset() {
		first = first.Add(-r.offset())
		return Span{first, first.AddDate(0, 0, days).Add(-1)}, r.end()
	}
	r.separator()
	at := first.Add(r.clock())
	r.rest = strings.TrimLeft(r.rest, " ")
	at = at.Add(-r.offset())
	return Span{at, at}, r.end()
}

// reader reads a text from left to right, and notes when it has not the form it should.
type reader struct {
	rest   string
	failed bool
}

func (r *reader) end() error {
	if r.failed || r.rest != "" {
		return ErrForm
	}
	return nil
}

// skip goes over one of some ASCII characters, and reports whether it stands there.
func (r *reader) skip(any string) bool {
	if r.rest == "" || strings.IndexByte(any, r.rest[0]) < 0 {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// number reads as many digits, of a number from least to most.
func (r *reader) number(digits, least, most int) int {
	n := 0
	for i := range digits {
		if i >= len(r.rest) || r.rest[i] < '0' || '9' < r.rest[i] {
			r.failed, r.rest = true, ""
			return least
		}
		n = n*10 + int(r.rest[i]-'0')
	}
	r.rest = r.rest[digits:]
	if n < least || most < n {
		r.failed = true
		return least
	}
	return n
}

// atDigit reports whether a digit stands there.
func (r *reader) atDigit() bool { return r.rest != "" && '0' <= r.rest[0] && r.rest[0] <= '9' }

// date reads a date, and returns when it begins and how many days it has.
func (r *reader) date() (time.Time, int) {
	year := r.number(4, 1, 9999)
	extended := r.skip("-")
	if r.skip("W") {
		return r.week(year, extended)
	}
	month := r.number(2, 1, 12)
	if extended && !r.skip("-") {
		r.failed = true
	}
	day := r.number(2, 1, 31)
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	r.failed = r.failed || at.Day() != day // a month carries days that it does not have
	return at, 1
}

// week reads a week of a year, all of it or a day.
func (r *reader) week(year int, extended bool) (time.Time, int) {
	week := r.number(2, 1, 53)
	// The fourth of January is in the first week of a year, which begins on a Monday.
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
	monday := fourth.AddDate(0, 0, 7*(week-1)-(int(fourth.Weekday())+6)%7)
	if of, _ := monday.ISOWeek(); of != year {
		r.failed = true // it has 52 weeks
	}
	if extended && len(r.rest) > 1 && r.rest[0] == '-' && isDayOfWeek(r.rest[1:]) {
		r.rest = r.rest[1:]
		return monday.AddDate(0, 0, r.number(1, 1, 7)-1), 1
	}
	if !extended && r.atDigit() {
		return monday.AddDate(0, 0, r.number(1, 1, 7)-1), 1
	}
	return monday, 7
}

// isDayOfWeek reports whether a text that stands behind a week and a hyphen begins with a
// day, and is no offset.
func isDayOfWeek(s string) bool {
	return '0' <= s[0] && s[0] <= '9' && (len(s) == 1 || s[1] < '0' || '9' < s[1])
}

// atOffset reports whether an offset stands there, right behind a date.
func (r *reader) atOffset() bool { return strings.IndexByte("Zz+-", r.rest[0]) >= 0 }

// separator goes over what stands between date and time of day.
func (r *reader) separator() {
	if r.atDigit() {
		r.failed = true
		return
	}
	_, size := utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[size:]
}

// clock reads a time of day.
func (r *reader) clock() time.Duration {
	at := time.Duration(r.number(2, 0, 23)) * time.Hour
	colon := r.skip(":")
	if !colon && !r.atDigit() {
		return at
	}
	at += time.Duration(r.number(2, 0, 59)) * time.Minute
	if colon && !r.skip(":") || !colon && !r.atDigit() {
		return at
	}
	at += time.Duration(r.number(2, 0, 59)) * time.Second
	if r.skip(".,") {
		at += r.fraction()
	}
	return at
}

// fraction reads the digits of a part of a second.
func (r *reader) fraction() time.Duration {
	r.failed = r.failed || !r.atDigit()
	var part time.Duration
	for scale := time.Second / 10; r.atDigit(); scale /= 10 {
		part += time.Duration(r.rest[0]-'0') * scale
		r.rest = r.rest[1:]
	}
	return part
}

// offset reads the offset from UTC, eastwards; 0 where there is none.
func (r *reader) offset() time.Duration {
	switch {
	case r.skip("Zz"):
		return 0
	case r.skip("+"):
		return r.clock()
	case r.skip("-"):
		return -r.clock()
	}
	return 0
}
