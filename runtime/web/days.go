package web

import (
	"maps"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/web/document"
)

// The strip of days, in units of its drawing.
const (
	maxDays   = 370 // the last ones
	barWidth  = 8
	stripHigh = 56
	maxPixels = 28 // of a day
	colours   = 6  // of programs, in page.css
)

// strip is a drawing of how many conversations there were on each day.
type strip struct {
	Width, Height int
	Pixels        int // the greatest width on a screen
	Days          []stripDay
	First, Last   string
	Programs      []string // in the order of their colours
	Earlier       int      // conversations before the first day
}

// stripDay is a day, with a bar for each program.
type stripDay struct {
	Day, Label, Address string
	X                   int
	IsChosen            bool
	Bars                []bar
}

// bar is the conversations of one program on one day.
type bar struct{ Y, Height, Colour int }

// stripOf returns a drawing of how many conversations there were on each day, up to the last day with a conversation.
// It draws at most maxDays days; Earlier counts the conversations before. With fewer than two days it returns nil.
func stripOf(all []conversations.Listed, q query) *strip {
	counts := map[string]map[string]int{} // by day and program
	programs := map[string]bool{}
	for i := range all {
		day := dayOf(all[i].ActiveAt())
		if day == "" {
			continue
		}
		if counts[day] == nil {
			counts[day] = map[string]int{}
		}
		counts[day][programOf(&all[i])]++
		programs[programOf(&all[i])] = true
	}
	days := slices.Sorted(maps.Keys(counts))
	if len(days) < 2 {
		return nil
	}
	s := &strip{Height: stripHigh, Programs: slices.Sorted(maps.Keys(programs))}
	first, last := midday(days[0]), midday(days[len(days)-1])
	if earliest := last.AddDate(0, 0, 1-maxDays); first.Before(earliest) {
		first = earliest
	}
	s.First, s.Last = document.Day(first), document.Day(last)
	most := 0 // conversations on one day
	for day, byProgram := range counts {
		if day < dayOf(first) {
			s.Earlier += total(byProgram)
		} else {
			most = max(most, total(byProgram))
		}
	}
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		s.Days = append(s.Days, s.nextDay(day, counts[dayOf(day)], most, q))
	}
	s.Width, s.Pixels = len(s.Days)*barWidth, len(s.Days)*maxPixels
	return s
}

// midday returns noon of a day that [dayOf] has returned. Every day has a noon, also where midnight is skipped.
func midday(day string) time.Time {
	midnight, _ := time.ParseInLocation(time.DateOnly, day, time.Local) // it is a day
	return midnight.Add(12 * time.Hour)
}

// total returns the sum of counts.
func total(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// nextDay returns the drawing of a day, to the right of the days that the strip has already. counts are the numbers of
// the day's conversations by program. most is the greatest number of conversations on any day. The day is chosen if q
// has a first or a last day and includes this day. The address of the day is that of q for this day alone.
func (s *strip) nextDay(day time.Time, counts map[string]int, most int, q query) stripDay {
	const margin, leastHeight = 4, 2
	hasDays := !q.From.IsZero() || !q.To.IsZero()
	d := stripDay{Day: dayOf(day), X: len(s.Days) * barWidth, IsChosen: hasDays && q.isIn(day)}
	q.From, q.To, q.Page = day, day, 1
	d.Address = q.Address()
	d.Label = document.Day(day) + ": " + text.Count(total(counts), "conversation", "conversations")
	top := stripHigh // the upper edge of the bars so far: each bar stands on the one before
	for i, program := range s.Programs {
		if n := counts[program]; n > 0 {
			height := max(n*(stripHigh-margin)/most, leastHeight)
			top -= height
			d.Bars = append(d.Bars, bar{top, height, i % colours})
		}
	}
	return d
}
