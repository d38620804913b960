package knowledge

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// targets returns the targets of links: subjects by each of their names, and folders, whose value is nil.
func (t *topic) targets() map[string]*subjects.Subject {
	known := map[string]*subjects.Subject{".": nil}
	for _, s := range t.tree.Subjects {
		for _, name := range s.Names() {
			if other := known[name]; other == nil || other.Disabled {
				known[name] = s
			}
		}
		for dir := path.Dir(subjects.NFC(s.Path)); dir != "."; dir = path.Dir(dir) {
			if _, ok := known[dir]; !ok {
				known[dir] = nil
			}
		}
	}
	return known
}

// link is an inline link of a Markdown text.
type link struct {
	line   int
	target string
}

// linksIn returns the links of a text that are within one line and not in code.
func linksIn(content string) (links []link) {
	code := regexp.MustCompile("(?:^|[^`])(`[^`]+`|``.*?[^`]``)|\\\\.")
	inline := regexp.MustCompile(`\]\( *(?:<([^<>]{1,512})>|((?:[^\s()<]|\([^\s()]*\)){1,512}))[\s)]`)
	fence, line := "", 0
	for l := range strings.SplitSeq(content, "\n") {
		line++
		rest := strings.TrimLeft(l, " ")
		marks := rest[:len(rest)-len(strings.TrimLeft(rest, "`~"))]
		switch {
		case fence != "":
			if strings.HasPrefix(marks, fence) && strings.TrimSpace(rest) == marks {
				fence = ""
			}
		case len(marks) >= 3:
			fence = marks
		default:
			for _, found := range inline.FindAllStringSubmatch(code.ReplaceAllString(l, " "), -1) {
				links = append(links, link{line, found[1] + found[2]})
			}
		}
	}
	return links
}

// links reports the links of a Markdown subject to subjects that do not exist.
func (c *checker) links(known map[string]*subjects.Subject, s *subjects.Subject, content string) {
	if s.Ext != "md" && s.Ext != "markdown" {
		return
	}
	for _, l := range linksIn(content) {
		target, ok := relative(l.target)
		at := path.Join(path.Dir(subjects.NFC(s.Path)), target)
		if !ok || at == ".." || strings.HasPrefix(at, "../") {
			continue // it leads out of the topic
		}
		to, ok := known[at]
		if !ok {
			to, ok = known[path.Clean(target)]
		}
		switch {
		case !ok:
			c.file(RuleBrokenLink, diag.Warning, s.Path, l.line, "correct the link, or add the file", "the link %s leads to no subject", text.Quote(l.target))
		case to != nil && to.Disabled:
			c.file(RuleBrokenLink, diag.Warning, s.Path, l.line, "remove the link, or enable the subject", "the link %s leads to a disabled subject", text.Quote(l.target))
		}
	}
}

// relative returns the path of a link, relative to the file. It reports false for a link that leads elsewhere.
func relative(link string) (string, bool) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" || strings.HasPrefix(u.Path, "/") {
		return "", false
	}
	return subjects.NFC(u.Path), true
}
