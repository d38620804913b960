package knowledge

import (
	"cmp"
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
	message := fmt.Sprintf("%s %s matches no subject", text.Quote(e.Pattern), where)
	if e.hint != "" {
		message += "; " + e.hint
	}
	return Warning{topic, message}
}

// checkPatterns reports the entries of the configuration that do nothing.
func (t *topic) checkPatterns(ctx context.Context, fs *findings) {
	for _, e := range t.deadEntries(ctx) {
		fs.config(RuleDeadPattern, diag.Warning, e.at, cmp.Or(e.hint, "remove the entry, or correct it"),
			"%s in %s of topic %q matches no subject", text.Quote(e.Pattern), e.Field, t.ID)
	}
}
