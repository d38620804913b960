package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// What is kept of what was pasted into a text.
const (
	leastPasted = 6   // lines of a table, of a quotation, of a log or of indented code that make it a paste
	firstPasted = 3   // lines of a paste that is shortened
	pastedChars = 240 // characters of these
	leastSaved  = 240 // characters that are worth a mark
)

// worthKeeping is the fewest characters of a line that say something without the
// rest of it, and wordChars the most that a cut moves to be between words.
const (
	worthKeeping = 24
	wordChars    = 20
)

// headingShare is the part of what is kept that headings in the middle may take: one
// in so many. Each has up to headingText characters of what stands below it; where not
// all have room for that, there are fewer headings. maxBold is how long a line in bold is that is
// one.
const (
	headingShare = 4
	headingText  = 120
	maxBold      = 80
)

// form is what kind of text is shortened. Prose has pastes and headings, and says at
// its end what it comes to; output, and arguments, begin with what they are, and are
// cut once.
type form struct {
	structured bool
	tail       int // percent of what is kept that is from the end
}

func prose() form  { return form{structured: true, tail: 60} }
func output() form { return form{tail: 40} }

// shorten returns the text, if it has more than limit characters with its marks,
// with fewer. Of pastes only the first lines are kept, the longest paste first; if
// that is not enough, the text loses its middle but for some headings in it. A limit
// of [maxMark] can always be kept to.
func (t *body) shorten(limit int, as form) (shorter body) {
	over := t.length() - limit
	if over <= 0 {
		return *t
	}
	lines := t.lines()
	if as.structured {
		lines = dropPastes(lines, over, 0)
		shorter = bodyOf(lines)
		over = shorter.length() - limit
	}
	for room, last := limit, false; over > 0 && !last; room -= over {
		last = room <= 0
		shorter = bodyOf(ends(lines, room, as.tail))
		over = shorter.length() - limit
	}
	return shorter
}

// withoutPastes returns the text with only the first lines of each paste that has more
// than limit characters.
func (t *body) withoutPastes(limit int) body {
	if t.length() <= limit {
		return *t
	}
	return bodyOf(dropPastes(t.lines(), t.length(), limit+1))
}

// dropPastes drops all but the first lines of pastes of at least some characters, the
// longest first, until about enough characters are gone.
func dropPastes(lines []line, enough, least int) []line {
	pastes := findPastes(lines)
	slices.SortStableFunc(pastes, func(a, b paste) int { return b.chars - a.chars })
	for _, p := range pastes {
		if enough <= 0 || p.chars < least {
			break
		}
		from, to := p.from, p.to
		if p.fenced {
			from, to = from+1, to-1
		}
		room := pastedChars
		for last := min(from+firstPasted, to); from < last && !lines[from].isGap && lines[from].chars <= room; from++ {
			room -= lines[from].chars
		}
		saved, isCut := -maxMark, false
		for _, l := range lines[from:to] {
			if isCut = isCut || l.isGap; !l.isGap {
				saved += l.chars
			}
		}
		if saved < leastSaved && !isCut {
			continue
		}
		enough -= saved
		for i := range lines[from:to] {
			l := &lines[from+i]
			l.dropped, l.kept = true, false
			if i == 0 && !l.isGap && from < p.from+firstPasted && room >= worthKeeping {
				l.head = startOf(l.text, room)
			}
		}
	}
	return lines
}

// paste is lines that look like pasted: from the first up to before the last.
type paste struct {
	from, to, chars int
	fenced          bool // the first and the last line are marks of a fence
}

// findPastes returns the pastes of a text in order, and marks the headings outside of
// code.
func findPastes(lines []line) []paste {
	var pastes []paste
	add := func(p paste) {
		for _, l := range lines[p.from:p.to] {
			p.chars += l.chars
		}
		pastes = append(pastes, p)
	}
	open := map[byte]int{} // the shortest fence, by its character, that nothing behind it closes
	for i := 0; i < len(lines); {
		bare := strings.TrimSpace(lines[i].text)
		if fence := fenceOf(bare); fence != "" && (open[fence[0]] == 0 || len(fence) < open[fence[0]]) {
			end := i + 1
			for end < len(lines) && !closes(strings.TrimSpace(lines[end].text), fence) {
				end++
			}
			if end < len(lines) {
				add(paste{from: i, to: end + 1, fenced: true})
				i = end + 1
				continue
			}
			open[fence[0]] = len(fence)
		}
		_, lines[i].heading = headingOf(bare)
		lines[i].heading = lines[i].heading || isBold(bare)
		kind := pastedKind(lines[i].text)
		end := i + 1
		for kind != "" && end < len(lines) && (lines[end].isGap || pastedKind(lines[end].text) == kind) {
			end++
		}
		for end > i+1 && lines[end-1].isGap {
			end--
		}
		if kind != "" && end-i >= leastPasted {
			add(paste{from: i, to: end})
		}
		i = end
	}
	return pastes
}

// pastedKind is what kind of paste a line may be of; empty for prose.
func pastedKind(s string) string {
	bare := strings.TrimSpace(s)
	switch {
	case bare == "":
		return ""
	case bare[0] == '|':
		return "table"
	case bare[0] == '>':
		return "quotation"
	case isStamped(bare):
		return "log"
	case strings.HasPrefix(s, "    ") && !isItem(bare), strings.HasPrefix(s, "\t") && !isItem(bare):
		return "code"
	default:
		return ""
	}
}

// isStamped reports whether a line begins like one of a log: with a date or a time.
func isStamped(s string) bool {
	s = strings.TrimPrefix(s, "[")
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits != 2 && digits != 4 || len(s) < digits+3 {
		return false
	}
	return strings.ContainsRune("-:/", rune(s[digits])) && '0' <= s[digits+1] && s[digits+1] <= '9' && '0' <= s[digits+2] && s[digits+2] <= '9'
}

func isBold(s string) bool {
	s = strings.TrimRight(s, ":")
	return len(s) > 4 && len(s) <= maxBold && strings.HasPrefix(s, "**") && strings.HasSuffix(s, "**")
}

// mayBeCut reports whether some of the line, which has no room, can be kept in room
// characters.
func (l *line) mayBeCut(room int) bool { return !l.dropped && room >= worthKeeping }

// ends keeps about room characters of the lines that are not dropped: the end, the
// beginning, and headings between them.
func ends(lines []line, room, tail int) []line {
	lines = slices.Clone(lines)
	reserved := 0
	for i := range slices.Backward(lines) {
		l := &lines[i]
		l.head = ""
		if cost := headingCost(l); l.heading && !l.dropped && reserved+cost <= room/headingShare {
			reserved += cost
		}
	}
	room -= reserved + maxMark
	cost := func(i int) int {
		switch {
		case !lines[i].dropped:
			return lines[i].chars
		case i > 0 && lines[i-1].dropped:
			return 0 // one mark for them all
		default:
			return maxMark
		}
	}
	to, left := len(lines), room*tail/100
	for to > 0 && cost(to-1) <= left {
		to--
		left -= cost(to)
	}
	if to > 0 && lines[to-1].mayBeCut(left) {
		lines[to-1].tail = endOf(lines[to-1].text, left)
		left -= utf8.RuneCountInString(lines[to-1].tail)
	}
	from := 0
	left += room - room*tail/100
	for from < to && cost(from) <= left && lines[from].tail == "" {
		left -= cost(from)
		from++
	}
	if from < to && lines[from].mayBeCut(left) {
		lines[from].head = startOf(lines[from].text, left)
	}
	for i := range lines {
		lines[i].kept = !lines[i].dropped && (i < from || i >= to)
	}
	keepHeadings(lines[from:to], reserved)
	return lines
}

// headingCost is about how many characters it takes to keep a heading.
func headingCost(l *line) int { return l.chars + headingText + maxMark }

// keepHeadings keeps headings of the middle of a text, the last ones first, each with
// the beginning of what stands below it.
func keepHeadings(lines []line, room int) {
	for i := len(lines) - 1; i >= 0; i-- {
		l := &lines[i]
		if !l.heading || l.dropped || l.head != "" || l.tail != "" {
			continue
		}
		if room -= headingCost(l); room < 0 {
			return
		}
		l.kept = true
		left := headingText
		for j := i + 1; j < len(lines); j++ {
			below := &lines[j]
			if below.dropped || below.heading {
				break
			}
			missing := below.chars - utf8.RuneCountInString(below.tail)
			if missing > left {
				if below.tail != "" {
					left = min(left, missing-maxMark)
				}
				if below.mayBeCut(left) {
					below.head = startOf(below.text, left)
				}
				break
			}
			below.kept = true
			left -= missing
		}
	}
}

// startOf is the first n characters of a line, or a few fewer, so that they end with
// a word.
func startOf(s string, n int) string {
	first, _, omitted := text.Ends(s, n, 0)
	if omitted == 0 {
		return first
	}
	if at := strings.LastIndexFunc(first, unicode.IsSpace); at > 0 && len(first)-at <= wordChars {
		return first[:at]
	}
	return first
}

// endOf is the last n characters of a line, or a few fewer, so that they begin with
// a word.
func endOf(s string, n int) string {
	_, last, omitted := text.Ends(s, 0, n)
	if omitted == 0 {
		return s
	}
	if at := strings.IndexFunc(last, unicode.IsSpace); at >= 0 && at < wordChars && at+1 < len(last) {
		_, size := utf8.DecodeRuneInString(last[at:])
		return last[at+size:]
	}
	return last
}
