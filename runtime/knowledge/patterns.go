package knowledge

import (
	"fmt"
	"slices"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
	"github.com/convtools/convtools/runtime/knowledge/match"
)

// deadEntry is an entry of learned or disabled that does nothing.
type deadEntry struct {
	match.Dead
	at kbconfig.Position
}

// deadEntries finds the entries of the topic's configuration that do nothing.
func (t *topic) deadEntries() []deadEntry {
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
		dead = append(dead, e)
	}
	return dead
}

// warning returns what to say of an entry that does nothing.
func (e deadEntry) warning(topic string) Warning {
	where := fmt.Sprintf("in %s (%s)", e.Field, e.at)
	if e.at.File == "-k" {
		where = "of -k"
	}
	return Warning{topic, fmt.Sprintf("%s %s matches no subject", text.Quote(e.Pattern), where)}
}

// checkPatterns reports the entries of the configuration that do nothing.
func (t *topic) checkPatterns(fs *findings) {
	for _, e := range t.deadEntries() {
		fs.config(RuleDeadPattern, diag.Warning, e.at, "remove the entry, or correct it: it is relative to "+oneLine(t.Topic.Subjects),
			"%s in %s of topic %q matches no subject", text.Quote(e.Pattern), e.Field, t.ID)
	}
}
