// Package iso8601 parses dates, with or without a time of day, in the forms of ISO 8601 that people and programs
// write. It never guesses: any other form, and a date or a time that does not exist, is an error.
package iso8601

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrForm is the error for a text that is no date in a known form.
var ErrForm = errors.New("not a date in a form of ISO 8601")

// Span is the time from the first to the last instant of a date, both inclusive, in UTC. They are equal for a date
// with a time of day.
type Span struct{ First, Last time.Time }

// expression matches a date. Its groups are 1, the year; 2 and 3, or 4 and 5, the month and day; 6 and 7, the week and
// weekday; 8, the time of day; 9 and 10, the sign and the size of the offset.
const (
	date       = `(\d{4})(?:-(\d\d)-(\d\d)|(\d\d)(\d\d)|-?W(\d\d)(?:-?(\d))?)`
	timeOfDay  = `(\d\d(?::\d\d(?::\d\d(?:[.,]\d+)?)?|\d\d(?:\d\d(?:[.,]\d+)?)?)?)`
	expression = `^` + date + `(?:[^\dZz+-]` + timeOfDay + ` *)?(?:[Zz]|([+-])` + timeOfDay + `)?$`
)

// form is expression, compiled when it is first used: most runs of a program read no date.
var form struct {
	sync.Once
	*regexp.Regexp
}

// Parse parses a date: of the calendar, 2024-01-15 or 20240115, of a week, 2024-W03-1 or 2024W031, or a whole week,
// 2024-W03 or 2024W03. A time of day may follow after T, t, a space or any one character that is no digit: 14, 14:30,
// 1430, 14:30:59 or 143059, the seconds with a fraction after . or ,. The offset from UTC may follow the time or the
// date: Z, z, +02, +0200, +02:00 or +02:00:30, with either sign; without one the time is in UTC. White space around
// the text and before the offset is ignored, and so are digits beyond nanoseconds. Years are 0001 to 9999.
func Parse(s string) (Span, error) {
	form.Do(func() { form.Regexp = regexp.MustCompile(expression) })
	groups := form.FindStringSubmatch(strings.TrimSpace(s))
	if groups == nil {
		return Span{}, ErrForm
	}
	number := func(alternatives ...int) int { // of the one group that is not empty, or 0
		text := ""
		for _, group := range alternatives {
			text += groups[group]
		}
		n, _ := strconv.Atoi(text)
		return n
	}
	year, month, day, days := number(1), number(2, 4), number(3, 5), 1
	first := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	dateOK := year > 0 && first.Day() == day && int(first.Month()) == month
	if groups[6] != "" { // a date of a week
		// January 4 is in the first week of a year, which begins on a Monday.
		fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
		first = fourth.AddDate(0, 0, 7*(number(6)-1)-(int(fourth.Weekday())+6)%7)
		weekYear, _ := first.ISOWeek()
		dateOK, days = year > 0 && weekYear == year, 7
		if weekday := number(7); groups[7] != "" {
			dateOK = dateOK && 1 <= weekday && weekday <= 7
			first, days = first.AddDate(0, 0, weekday-1), 1
		}
	}
	last := first.AddDate(0, 0, days).Add(-1)
	sinceMidnight, timeOK := clock(groups[8])
	if groups[8] != "" { // an instant
		first = first.Add(sinceMidnight)
		last = first
	}
	offset, offsetOK := clock(groups[10])
	if groups[9] == "-" {
		offset = -offset
	}
	if !dateOK || !timeOK || !offsetOK {
		return Span{}, ErrForm
	}
	return Span{first.Add(-offset), last.Add(-offset)}, nil
}

// clock returns the duration of a time of day or an offset, 0 for an empty text. It reports whether such a time exists.
func clock(s string) (time.Duration, bool) {
	digits, fraction, _ := strings.Cut(strings.NewReplacer(":", "", ",", ".").Replace(s), ".")
	digits, fraction = (digits + "000000")[:6], (fraction + "000000000")[:9]
	hours, _ := strconv.Atoi(digits[:2])
	minutes, _ := strconv.Atoi(digits[2:4])
	seconds, _ := strconv.Atoi(digits[4:])
	nanoseconds, _ := strconv.Atoi(fraction)
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second + time.Duration(nanoseconds),
		hours < 24 && minutes < 60 && seconds < 60
}
