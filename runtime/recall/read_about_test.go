package recall_test

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// TestReadAbout: about finds events that hold its words, calls and results of these tools
// aside, and shows of each something that holds one.
func TestReadAbout(t *testing.T) {
	t.Parallel()
	counts := regexp.MustCompile(`^(\d+) of (\d+) events?, what tells most of about`)
	holds := func(text string) bool {
		text = strings.ToLower(text)
		return strings.Contains(text, "retry") || strings.Contains(text, "cap")
	}
	some, none := 0, 0
	for seed := range cases.Of(uint64(3)) {
		r := rand.New(rand.NewPCG(seed, 31))
		var all []heardConversation
		tools := overSource(workspaceOf(t, func(w *jptest.Workspace) { all = randomWorkspace(r, w) }))
		reading := func(arguments map[string]any) *answerElement {
			raw, err := json.Marshal(arguments)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := conversation.Call(t.Context(), tools, contract.Call{Tool: "conversation_read", Arguments: raw})
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, raw, err)
			}
			if n := utf8.RuneCountInString(answer); n > 7000 {
				t.Errorf("seed %d: %s: %d characters", seed, raw, n)
			}
			return check(t, "conversation_read", answer)
		}
		for _, c := range all {
			var held []int
			for _, e := range c.events {
				if e.number > 0 && !e.own && slices.ContainsFunc(e.lines, holds) {
					held = append(held, e.number)
				}
			}
			root := reading(map[string]any{"id": c.id, "about": "What of the retries, and of a cap?"})
			var shown []int
			for _, turn := range root.all("turn") {
				for _, e := range turn.all("event") {
					shown = append(shown, atoi(e.attr("event")))
					if content := e.all("content"); len(content) == 1 && !holds(content[0].Text) {
						t.Errorf("seed %d: %s: event %s is shown without a word: %q", seed, c.id, e.attr("event"), content[0].Text)
					}
				}
			}
			m := counts.FindStringSubmatch(root.all("note")[0].Text)
			switch {
			case len(held) == 0 && (m != nil || len(shown) > 0):
				t.Errorf("seed %d: %s: %d events shown, where none holds a word", seed, c.id, len(shown))
			case len(held) == 0:
				none++
				continue
			case len(held) > 0 && len(shown) == 0 && m == nil:
				continue // inside of longer words, which are others
			case m == nil || atoi(m[1]) != len(shown) || atoi(m[2]) < len(held) || len(shown) == 0:
				t.Fatalf("seed %d: %s: %d of %d shown, says %q", seed, c.id, len(shown), len(held), root.all("note")[0].Text)
			}
			some++
			for _, number := range shown {
				if !slices.Contains(held, number) {
					t.Errorf("seed %d: %s: event %d is shown and holds no word", seed, c.id, number)
				}
				reading(map[string]any{"id": c.id, "event": number, "about": "retry"})
			}
		}
	}
	if some < 20 || none < 2 {
		t.Errorf("%d conversations with events, %d without", some, none)
	}
}
