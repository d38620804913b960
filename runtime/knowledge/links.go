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

// linkTargets returns what a link in the topic may lead to: subjects by each of their names, and folders by their paths,
// with the value nil. Of several with one name, an enabled subject comes first, then a disabled one, then a folder.
func (t *topic) linkTargets() map[string]*subjects.Subject {
	targets := map[string]*subjects.Subject{subjects.TopicDir: nil}
	for _, s := range t.tree.Subjects {
		for _, name := range s.Names() {
			known := targets[name] // nil if the name is new, or that of a folder
			if known == nil || known.Disabled {
				targets[name] = s
			}
		}
		for dir := path.Dir(subjects.NFC(s.Path)); dir != subjects.TopicDir; dir = path.Dir(dir) {
			if _, ok := targets[dir]; !ok {
				targets[dir] = nil
			}
		}
	}
	return targets
}

// link is an inline link of a Markdown text.
type link struct {
	line   int
	target string
}

// linksIn returns the links in a Markdown text. It finds only links that are on one line and not in code.
func linksIn(content string) (links []link) {
	// code matches code in ` or ``, and \ with a character: an escaped bracket ends no link. inline matches the end of
	// a link, ](<target>) or ](target). A target has at most 512 characters; without < it may have (…) and no blanks.
	code := regexp.MustCompile("(?:^|[^`])(`[^`]+`|``.*?[^`]``)|\\\\.")
	inline := regexp.MustCompile(`\]\( *(?:<([^<>]{1,512})>|((?:[^\s()<]|\([^\s()]*\)){1,512}))[\s)]`)
	fence, number := "", 0 // fence has the marks that opened the block of code around the line
	for line := range strings.SplitSeq(content, "\n") {
		number++
		rest := strings.TrimLeft(line, " ")
		marks := rest[:len(rest)-len(strings.TrimLeft(rest, "`~"))] // the ` or ~ at the beginning
		switch {
		case fence != "":
			if strings.HasPrefix(marks, fence) && strings.TrimSpace(rest) == marks {
				fence = "" // the block ends
			}
		case len(marks) >= 3:
			fence = marks
		default:
			for _, match := range inline.FindAllStringSubmatch(code.ReplaceAllString(line, " "), -1) {
				links = append(links, link{number, match[1] + match[2]})
			}
		}
	}
	return links
}

// checkLinks adds a finding for each link of a Markdown subject that leads to no target, or to a disabled subject.
// targets are those of [topic.linkTargets]. A link is relative to the subject's folder, or to the topic's directory.
func (c *checker) checkLinks(targets map[string]*subjects.Subject, s *subjects.Subject, content string) {
	if s.Ext != "md" && s.Ext != "markdown" {
		return
	}
	for _, l := range linksIn(content) {
		written, isRelative := relativePath(l.target)
		name := path.Join(path.Dir(subjects.NFC(s.Path)), written)
		if !isRelative || name == ".." || strings.HasPrefix(name, "../") {
			continue // the link leads out of the topic
		}
		target, exists := targets[name]
		if !exists {
			target, exists = targets[path.Clean(written)]
		}
		switch {
		case !exists:
			c.addFinding(RuleBrokenLink, diag.Warning, s.Path, l.line, "correct the link, or add the file", "the link %s leads to no subject", text.Quote(l.target))
		case target != nil && target.Disabled: // nil is for a folder
			c.addFinding(RuleBrokenLink, diag.Warning, s.Path, l.line, "remove the link, or enable the subject", "the link %s leads to a disabled subject", text.Quote(l.target))
		}
	}
}

// relativePath returns the path in a link, and false for a link that is no relative path, such as a web address.
func relativePath(link string) (string, bool) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" || strings.HasPrefix(u.Path, "/") {
		return "", false
	}
	return subjects.NFC(u.Path), true
}
