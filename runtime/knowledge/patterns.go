package knowledge

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
	"github.com/convtools/convtools/runtime/knowledge/match"
)

// deadEntry is an entry of learned or disabled that does nothing.
type deadEntry struct {
	match.Dead
	at   kbconfig.Position
	hint string // how to put it right, or nothing
}

// deadEntries finds the entries of the topic's configuration that do nothing.
func (t *topic) deadEntries(ctx context.Context) []deadEntry {
	var dead []deadEntry
	for _, d := range t.set.Dead() {
		entries, places := t.Learned, t.LearnedAt
		if d.Field == "disabled" {
			entries, places = t.Topic.Disabled, t.DisabledAt
		}
		e := deadEntry{Dead: d, at: t.Defined}
		if i := slices.Index(entries, d.Pattern); i >= 0 && i < len(places) {
			e.at = places[i]
		}
		if below := t.belowDirectory(ctx, d.Pattern); below != "" {
			e.hint = "patterns are relative to " + oneLine(t.Topic.Subjects) + ": did you mean " + anyOf([]string{below}) + "?"
		} else if len(d.Near) > 0 {
			e.hint = "did you mean " + anyOf(d.Near) + "?"
		}
		dead = append(dead, e)
	}
	return dead
}

// belowDirectory returns what a pattern means that repeats the end of the path of
// the topic's directory, or nothing if it is none that matches something then.
func (t *topic) belowDirectory(ctx context.Context, pattern string) string {
	for dir := t.Topic.Subjects; ; {
		if below, ok := strings.CutPrefix(path.Clean(strings.TrimSpace(pattern)), dir+"/"); ok {
			if found, err := t.set.Resolve(ctx, []string{below}, false); err == nil && len(found.Hits) > 0 {
				return below
			}
		}
		var more bool
		if _, dir, more = strings.Cut(dir, "/"); !more {
			return ""
		}
	}
}

// warning returns what to say of an entry that does nothing.
func (e deadEntry) warning(topic string) Warning {
	where := fmt.Sprintf("in %s (%s)", e.Field, e.at)
	if e.at.File == "-k" {
		where = "of -k"
	}
	reason := "matches no subject"
	if e.Reason != "" {
		reason = e.Reason
	}
	message := fmt.Sprintf("%s %s %s", text.Quote(e.Pattern), where, reason)
	if e.hint != "" {
		message += "; " + e.hint
	}
	return Warning{topic, message}
}

// checkPatterns reports the entries of the configuration that do nothing.
func (t *topic) checkPatterns(ctx context.Context, fs *findings) {
	for _, e := range t.deadEntries(ctx) {
		if e.Reason != "" {
			fs.config(RuleBadPattern, diag.Error, e.at, "* stands for one level and ** for all levels", "%s in %s of topic %q %s", text.Quote(e.Pattern), e.Field, t.ID, e.Reason)
			continue
		}
		hint := e.hint
		if hint == "" {
			hint = "remove the entry, or correct it"
		}
		fs.config(RuleDeadPattern, diag.Warning, e.at, hint, "%s in %s of topic %q matches no subject", text.Quote(e.Pattern), e.Field, t.ID)
	}
}

// maxOddSlugs is how many names that are globs too are tried as such.
const maxOddSlugs = 32

// checkNames finds files that take the place of a pattern that people use.
func (t *topic) checkNames(ctx context.Context, fs *findings) {
	tried := 0
	last := ""
	for _, i := range t.set.Visible() {
		s := &t.tree.Subjects[i]
		if s.Slug == last || match.QuoteMeta(s.Slug) == s.Slug || tried == maxOddSlugs {
			continue
		}
		last = s.Slug
		tried++
		found, err := t.set.Resolve(ctx, []string{s.Slug}, false)
		if err != nil || len(found.Ambiguous) == 0 {
			continue
		}
		fs.file(RuleAmbiguous, diag.Warning, s.Path, 0, "rename the file", "the pattern %s loads this file alone, and not %s that it matches",
			quoteName(s.Slug), otherSubjects(found.Ambiguous[0].Others))
	}
}
