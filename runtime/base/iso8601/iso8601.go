// Package iso8601 reads dates, and dates with a time of day, in the forms of ISO 8601 that
// people and programs write. It never guesses: what has no such form is an error, and so is
// a day, or a time of day, that there is not.
package iso8601

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrForm is the error for a text that is no date of a known form.
var ErrForm = errors.New("not a date in a form of ISO 8601")

// Span is what a date stands for, from its first to its last instant, both inclusive and in
// UTC. With a time of day the two are equal.
type Span struct{ First, Last time.Time }

// form is what a date looks like, once it was asked for: most programs that start read none.
var form struct {
	made sync.Once
	*regexp.Regexp
}

// forms is what a date looks like; numbers in one place have one name.
func forms() *regexp.Regexp {
	form.made.Do(func() { form.Regexp = makeForms() })
	return form.Regexp
}

func makeForms() *regexp.Regexp {
	clock := func(name string) string {
		return strings.ReplaceAll(`(?P<Xh>\d\d)(?::(?P<Xm>\d\d)(?::(?P<Xs>\d\d)(?:[.,](?P<Xf>\d+))?)?|(?P<Xm>\d\d)(?:(?P<Xs>\d\d)(?:[.,](?P<Xf>\d+))?)?)?`, "X", name)
	}
	const date = `(?P<year>\d{4})(?:-(?P<month>\d\d)-(?P<day>\d\d)|(?P<month>\d\d)(?P<day>\d\d)|-W(?P<week>\d\d)(?:-(?P<weekday>\d))?|W(?P<week>\d\d)(?P<weekday>\d)?)`
	return regexp.MustCompile(`^` + date + `(?:[^\dZz+-]` + clock("t") + ` *)?(?:[Zz]|(?P<sign>[+-])` + clock("o") + `)?$`)
}

// Parse reads a date: of the calendar, 2024-01-15 or 20240115, or of a week, 2024-W03-1,
// 2024W031, or all of the week as 2024-W03 or 2024W03. Behind T, t, a blank or any one
// character that is no digit may follow a time of day: 14, 14:30, 1430, 14:30:59, 143059,
// the seconds with a fraction behind . or ,. Behind it, or right behind the date, may follow
// the offset from UTC: Z, z, +02, +0200, +02:00 or +02:00:30, of either sign. Without one it
// is UTC. White space around it and before the offset does not matter. Digits beyond
// nanoseconds are dropped. Years are 0001 to 9999.
func Parse(s string) (Span, error) {
	is, ok := read(strings.TrimSpace(s))
	year, days := is.number("year"), 1
	first := time.Date(year, time.Month(is.number("month")), is.number("day"), 0, 0, 0, 0, time.UTC)
	if is["week"] == "" {
		ok = ok && first.Day() == is.number("day") && int(first.Month()) == is.number("month")
	} else {
		// The fourth of January is in the first week of a year, which begins on a Monday.
		fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
		first = fourth.AddDate(0, 0, 7*(is.number("week")-1)-(int(fourth.Weekday())+6)%7)
		if of, _ := first.ISOWeek(); of != year {
			ok = false
		}
		days = 7
		if weekday := is.number("weekday"); is["weekday"] != "" {
			ok = ok && 1 <= weekday && weekday <= 7
			first, days = first.AddDate(0, 0, weekday-1), 1
		}
	}
	last := first.AddDate(0, 0, days).Add(-1)
	if is["th"] != "" {
		first = first.Add(is.clock("t"))
		last = first
	}
	offset := is.clock("o")
	if is["sign"] == "-" {
		offset = -offset
	}
	if !ok || year == 0 || max(is.number("th"), is.number("oh")) > 23 || max(is.number("tm"), is.number("ts"), is.number("om"), is.number("os")) > 59 {
		return Span{}, ErrForm
	}
	return Span{first.Add(-offset), last.Add(-offset)}, nil
}

// parts are the texts of a date, by their names in [forms].
type parts map[string]string

func read(s string) (parts, bool) {
	found := forms().FindStringSubmatch(s)
	is := parts{}
	for i, text := range found {
		if text != "" {
			is[forms().SubexpNames()[i]] = text
		}
	}
	return is, found != nil
}

// number returns a part that is a number; 0 where it is not there.
func (p parts) number(name string) int {
	n, _ := strconv.Atoi(p[name])
	return n
}

// clock returns a time of day, or an offset.
func (p parts) clock(of string) time.Duration {
	nanoseconds, _ := strconv.Atoi((p[of+"f"] + "000000000")[:len("000000000")])
	return time.Duration(p.number(of+"h"))*time.Hour + time.Duration(p.number(of+"m"))*time.Minute +
		time.Duration(p.number(of+"s"))*time.Second + time.Duration(nanoseconds)
}
