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

// Span is the time from the first to the last instant of a date, in UTC. They are equal for a date with a time of day.
type Span struct{ First, Last time.Time }

// expression matches a date. Its groups are 1, the year; 2 and 3, or 4 and 5, the month and day; 6 and 7, the week and
// weekday; 8, the time of day; 9 and 10, the sign and the size of the offset.
const (
	date       = `(\d{4})(?:-(\d\d)-(\d\d)|(\d\d)(\d\d)|-?W(\d\d)(?:-?(\d))?)`
	timeOfDay  = `(\d\d(?::\d\d(?::\d\d(?:[.,]\d+)?)?|\d\d(?:\d\d(?:[.,]\d+)?)?)?)`
	expression = `^` + date + `(?:[^\dZz+-]` + timeOfDay + ` *)?(?:[Zz]|([+-])` + timeOfDay + `)?$`
)

// form is the compiled expression. The first call of Parse compiles it: most runs of a program read no date.
var form struct {
	sync.Once
	*regexp.Regexp
}

// Parse parses a date of the calendar, 2024-01-15 or 20240115, a day of a week, 2024-W03-1 or 2024W031, or a whole week,
// 2024-W03 or 2024W03. Years are 0001 to 9999.
//
// A time of day may follow, after T, t, a space or any other character that is no digit: 14, 14:30, 1430, 14:30:59 or
// 143059; seconds may have a fraction after a period or a comma. The offset from UTC may follow the time or the date: Z,
// z, +02, +0200, +02:00 or +02:00:30, with either sign. Without an offset the time is in UTC. White space around the
// text and before the offset is ignored, and so are digits beyond nanoseconds.
func Parse(s string) (Span, error) {
	form.Do(func() { form.Regexp = regexp.MustCompile(expression) })
	groups := form.FindStringSubmatch(strings.TrimSpace(s))
	if groups == nil {
		return Span{}, ErrForm
	}
	// The groups of the month and the day are those with or without hyphens; the groups of the other form are empty.
	year, month, day := groups[1], groups[2]+groups[4], groups[3]+groups[5]
	week, weekday, clockText, sign, offsetText := groups[6], groups[7], groups[8], groups[9], groups[10]
	first, days, dateExists := calendarDay(number(year), number(month), number(day))
	if week != "" {
		first, days, dateExists = daysOfWeek(number(year), number(week), weekday)
	}
	last := first.AddDate(0, 0, days).Add(-1)
	sinceMidnight, timeExists := clock(clockText)
	if clockText != "" { // an instant
		first = first.Add(sinceMidnight)
		last = first
	}
	offset, offsetExists := clock(offsetText)
	if sign == "-" {
		offset = -offset
	}
	if !dateExists || !timeExists || !offsetExists {
		return Span{}, ErrForm
	}
	return Span{first.Add(-offset), last.Add(-offset)}, nil
}

// number returns the number that digits write, or 0 without digits.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// calendarDay returns the beginning of a day of the calendar, the number of days, 1, and whether the day exists.
func calendarDay(year, month, day int) (first time.Time, days int, exists bool) {
	first = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC) // February 30 becomes March 1 or 2
	return first, 1, year > 0 && first.Day() == day && int(first.Month()) == month
}

// daysOfWeek returns the beginning of a week and 7 days or, if weekday is not empty, the beginning of that day of the
// week and 1 day. It reports whether the week and the day exist.
func daysOfWeek(year, week int, weekday string) (first time.Time, days int, exists bool) {
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC) // is in week 1 of every year
	sinceMonday := (int(fourth.Weekday()) + 6) % 7                   // days
	monday := fourth.AddDate(0, 0, 7*(week-1)-sinceMonday)
	weekYear, _ := monday.ISOWeek()
	exists = year > 0 && weekYear == year
	if weekday == "" {
		return monday, 7, exists
	}
	n := number(weekday)
	return monday.AddDate(0, 0, n-1), 1, exists && 1 <= n && n <= 7
}

// clock returns the duration that a time of day or an offset stands for, 0 for none, and whether a clock can show it.
func clock(s string) (time.Duration, bool) {
	digits, fraction, _ := strings.Cut(strings.NewReplacer(":", "", ",", ".").Replace(s), ".")
	digits, fraction = (digits + "000000")[:6], (fraction + "000000000")[:9] // what is not written is 0
	hours, minutes, seconds := number(digits[:2]), number(digits[2:4]), number(digits[4:])
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second + time.Duration(number(fraction)),
		hours < 24 && minutes < 60 && seconds < 60
}
