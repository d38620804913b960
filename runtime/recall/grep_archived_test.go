package recall_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

var archivedToo = regexp.MustCompile(`Archived: (\d+) match(?:es)?, ids=\[([^\]]*)\]`)

// TestGrepArchived: what is shown is of the first that holds something: the pattern in
// live conversations, in archived ones, then its words in the live ones and the archived
// ones. Archived conversations are marked. Beside few events of live ones, few events of
// archived ones are shown, and many counted.
func TestGrepArchived(t *testing.T) {
	t.Parallel()
	type spoken struct {
		archived bool
		texts    []string
	}
	seen := map[string]int{}
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 11))
		words := []string{"quorum", "turtle", "feed", "sleeps", "waits", "tide"}
		all := map[string]spoken{}
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) {
			for i := range 1 + r.IntN(14) {
				c := w.Conversation(fmt.Sprint(17600000000+i*1000), "x").TurnStart()
				s := spoken{archived: r.IntN(2) == 0}
				for j := range 1 + r.IntN(4) {
					text := fmt.Sprint(i, j)
					for range 1 + r.IntN(3) {
						text += " " + words[r.IntN(len(words))]
					}
					s.texts = append(s.texts, text)
					c.User(text)
				}
				if s.archived {
					c.Archived(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
				}
				all[c.ID()] = s
			}
		}))
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		pattern := strings.Join(words[:1+r.IntN(2)], " ")
		count := func(archived, apart bool) (events int) {
			for _, s := range all {
				for _, text := range s.texts {
					holds := strings.Contains(text, pattern)
					if apart {
						holds = !slices.ContainsFunc(strings.Fields(pattern), func(word string) bool { return !strings.Contains(text, word) })
					}
					if s.archived == archived && holds {
						events++
					}
				}
			}
			return events
		}
		root := grepping(t, tools, map[string]any{"pattern": pattern})
		notes := notesOf(t, root)
		wantArchived, wantApart, want := false, false, 0
		for _, apart := range []bool{false, true} {
			for _, archived := range []bool{false, true} {
				if want == 0 {
					wantArchived, wantApart, want = archived, apart, count(archived, apart)
				}
			}
		}
		seen[fmt.Sprint(want > 0, wantArchived, wantApart)]++
		too := 0 // events of archived conversations beside those of live ones
		if !wantArchived && !wantApart && want > 0 && want < 5 {
			too = count(true, false)
		}
		isShown := 0 < too && too < 5
		if isShown {
			want += too
			seen["shown too"]++
		}
		if want == 0 {
			if root.attr("matches") != "0" || linesShown(root) != "0" {
				t.Errorf("seed %d: %s of %s matches of nothing", seed, linesShown(root), root.attr("matches"))
			}
			continue
		}
		if got := root.attr("words") == "apart"; got != wantApart || !wantApart && root.attr("matches") != fmt.Sprint(want) {
			t.Errorf("seed %d: %q has words=%q matches=%s, want %d", seed, pattern, root.attr("words"), root.attr("matches"), want)
		}
		if strings.Contains(notes, "Only archived conversations match.") != wantArchived {
			t.Errorf("seed %d: archived is %v, and the notes are %q", seed, wantArchived, notes)
		}
		for _, c := range root.all("conversation") {
			is := all[c.attr("id")].archived
			if got := c.attr("archived") == "true"; got != is || is != wantArchived && !isShown {
				t.Errorf("seed %d: %s has archived=%q, want %v", seed, c.attr("id"), c.attr("archived"), wantArchived)
			}
		}
		named := archivedToo.FindStringSubmatch(notes)
		if (named != nil) != (too > 0 && !isShown) {
			t.Errorf("seed %d: %d events, of them %d archived, and the notes are %q", seed, want, too, notes)
		}
		if named != nil {
			seen["named too"]++
			ids := strings.Split(strings.ReplaceAll(named[2], `"`, ""), ",")
			if root := grepping(t, tools, map[string]any{"pattern": pattern, "ids": ids}); root.attr("matches") != named[1] {
				t.Errorf("seed %d: %s, and there are %s", seed, named[0], root.attr("matches"))
			}
		}
	}
	for _, what := range []string{"true false false", "true true false", "true false true", "true true true", "false true true", "shown too", "named too"} {
		if seen[what] < 3 {
			t.Errorf("%s was seen too seldom, of %v", what, seen)
		}
	}
}
