package knowledge

import (
	"net/url"
	"path"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/knowledge/match"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// The limits of what is looked at. Longer lines are data that somebody pasted,
// and longer targets are none of a file's.
const (
	maxProseLine = 64 << 10 // bytes
	maxTarget    = 512      // bytes
)

func isMarkdown(ext string) bool { return ext == "md" || ext == "markdown" }

// targets is what links may lead to.
type targets struct {
	subjects map[string]int // by every name a subject has
	folders  map[string]bool
}

func (t *topic) targets() targets {
	known := targets{map[string]int{}, map[string]bool{}}
	for i := range t.tree.Subjects {
		s := &t.tree.Subjects[i]
		for _, name := range match.Names(s) {
			if other, taken := known.subjects[name]; !taken || t.set.Disabled(other) || name == subjects.NFC(s.Path) {
				known.subjects[name] = i
			}
		}
		for dir := path.Dir(subjects.NFC(s.Path)); !known.folders[dir]; dir = path.Dir(dir) {
			known.folders[dir] = true
		}
	}
	return known
}

// checkLinks finds links of a subject to subjects that do not exist.
func (t *topic) checkLinks(fs *findings, known targets, i int, content string) {
	s := &t.tree.Subjects[i]
	line := 0
	for l := range proseLines(content) {
		line++
		for _, link := range linkTargets(l) {
			target, ok := relative(link)
			if !ok {
				continue
			}
			at := path.Join(path.Dir(subjects.NFC(s.Path)), target)
			if at == ".." || strings.HasPrefix(at, "../") || known.folders[at] {
				continue // Not of this topic, or a folder.
			}
			to, ok := known.subjects[at]
			if !ok {
				to, ok = known.subjects[path.Clean(target)]
			}
			switch {
			case !ok:
				fs.file(RuleBrokenLink, diag.Warning, s.Path, line, "correct the link, or add the file", "the link %s leads to no subject", text.Quote(link))
			case t.set.Disabled(to):
				fs.file(RuleBrokenLink, diag.Warning, s.Path, line, "remove the link, or enable the subject", "the link %s leads to a disabled subject", text.Quote(link))
			}
		}
	}
}

// relative returns the path that a link has, and false for one that does not
// lead to a file relative to its own.
func relative(link string) (string, bool) {
	target, _, _ := strings.Cut(link, "#")
	target, _, _ = strings.Cut(target, "?")
	before, _, _ := strings.Cut(target, "/")
	if target == "" || strings.HasPrefix(target, "/") || strings.Contains(before, ":") {
		return "", false
	}
	if plain, err := url.PathUnescape(target); err == nil {
		target = plain
	}
	return subjects.NFC(target), true
}

// proseLines returns the lines of a Markdown text. Those of fenced code, and
// those that are too long to be prose, are empty.
func proseLines(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		fence := ""
		for line := range strings.SplitSeq(text, "\n") {
			trimmed := strings.TrimLeft(line, " ")
			run := marks(trimmed)
			switch {
			case fence == "" && len(run) >= 3:
				fence = run
				line = ""
			case fence != "":
				if strings.HasPrefix(run, fence) && strings.TrimSpace(trimmed[len(run):]) == "" {
					fence = ""
				}
				line = ""
			case len(line) > maxProseLine:
				line = ""
			}
			if !yield(line) {
				return
			}
		}
	}
}

// marks returns the backticks or tildes that a line begins with.
func marks(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	return line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
}

// linkTargets returns where the inline links of a line lead, [text](target) and
// images, but not those in code.
func linkTargets(line string) []string {
	var found []string
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '`':
			run := marks(line[i:])
			i += len(run) - 1
			if end := closing(line[i+1:], run); end >= 0 {
				i += end
			}
		case ']':
			if target, ok := strings.CutPrefix(line[i:], "]("); ok {
				if target = destination(target); target != "" {
					found = append(found, target)
				}
			}
		}
	}
	return found
}

// closing returns the offset behind the next run of backticks that is as long as
// run, or -1.
func closing(text, run string) int {
	for at := 0; at < len(text); {
		start := strings.IndexByte(text[at:], '`')
		if start < 0 {
			return -1
		}
		at += start
		found := marks(text[at:])
		at += len(found)
		if found == run {
			return at
		}
	}
	return -1
}

// destination returns the target that a link has behind its opening parenthesis.
func destination(text string) string {
	text = strings.TrimLeft(text[:min(len(text), maxTarget)], " ")
	if inner, ok := strings.CutPrefix(text, "<"); ok {
		target, _, closed := strings.Cut(inner, ">")
		if !closed {
			return ""
		}
		return target
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t':
			return text[:i]
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return text[:i]
			}
			depth--
		}
	}
	return "" // The parenthesis is not closed: this is no link.
}
