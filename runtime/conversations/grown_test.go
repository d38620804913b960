package conversations_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/claudecode"
	"github.com/convtools/convtools/runtime/store/codex"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/store/sessions"
)

// grower writes the file of a conversation.
type grower struct {
	rng  *rand.Rand
	cwd  string // as JSON
	n    int    // lines
	last int    // record with which the next one is linked
	// records are those that may be linked with.
	records []int
	// tangled is set where something was written for which all is read again.
	tangled bool
}

func (g *grower) text() string {
	words := []string{"alpha", "beta", "gamma delta", "東京", "Straße", "\"quoted\"", "line\nbreak"}
	quoted, _ := json.Marshal(fmt.Sprintf("%s %d %s", words[g.rng.IntN(len(words))], g.n, words[g.rng.IntN(len(words))]))
	return string(quoted)
}

func (g *grower) at() string {
	return time.Date(2026, 5, 1, 0, 0, g.n, 0, time.UTC).Format(time.RFC3339)
}

// record returns the members of a record that is linked with another one.
func (g *grower) record(n, parent int) string {
	head := fmt.Sprintf(`"uuid":"%d","sessionId":%q,"timestamp":%q,"cwd":%s`, n, grownID, g.at(), g.cwd)
	if parent >= 0 {
		head += fmt.Sprintf(`,"parentUuid":"%d"`, parent)
	}
	return head
}

const grownID = "5f0c7a52-5c2e-4a0b-9d53-0d6f6a2b9c11"

// growing is a store whose files grow by lines.
type growing struct {
	file        string
	open        func(store.Options) (store.Store, bool)
	first, next func(g *grower) string
	linked      bool // records with each other
}

func growingStores() map[string]growing {
	return map[string]growing{
		"codex": {
			"sessions/2026/05/01/rollout-2026-05-01T00-00-00-" + grownID + ".jsonl",
			func(o store.Options) (store.Store, bool) { return codex.Open(o) },
			func(g *grower) string {
				return fmt.Sprintf(`{"timestamp":%q,"type":"session_meta","payload":{"id":%q,"timestamp":%q,"cwd":%s}}`, g.at(), grownID, g.at(), g.cwd)
			},
			func(g *grower) string {
				line := fmt.Sprintf(`{"timestamp":%q,"type":`, g.at())
				switch g.rng.IntN(40) {
				case 0, 1, 2:
					return fmt.Sprintf(`%s"event_msg","payload":{"type":"user_message","message":%s}}`, line, g.text())
				case 3, 4, 5:
					return fmt.Sprintf(`%s"event_msg","payload":{"type":"agent_message","message":%s}}`, line, g.text())
				case 6, 7:
					return fmt.Sprintf(`%s"response_item","payload":{"type":"function_call","name":"tool%d","arguments":"{}","call_id":"c%d"}}`, line, g.rng.IntN(2), g.n)
				case 8, 9:
					return fmt.Sprintf(`%s"response_item","payload":{"type":"function_call_output","call_id":"c%d","output":%s}}`, line, max(g.n-1-g.rng.IntN(3), 0), g.text())
				case 10:
					g.tangled = true
					return fmt.Sprintf(`%s"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}`, line)
				case 11:
					return `{"timestamp":"","type":"of no known kind"} no JSON`
				}
				return fmt.Sprintf(`%s"event_msg","payload":{"type":"agent_message","message":%s}}`, line, g.text())
			},
			false,
		},
		"claude-code": {
			"projects/p/" + grownID + ".jsonl",
			func(o store.Options) (store.Store, bool) { return claudecode.Open(o) },
			func(g *grower) string {
				g.last, g.records = 0, []int{0}
				return fmt.Sprintf(`{"type":"user",%s,"message":{"content":"begin"}}`, g.record(0, -1))
			},
			func(g *grower) string {
				before, known := g.last, g.records
				g.last, g.records = g.n, append(known, g.n)
				link := g.record(g.n, before)
				switch g.rng.IntN(80) {
				case 0, 1, 2, 3, 4, 5:
					return fmt.Sprintf(`{"type":"user",%s,"message":{"content":%s}}`, link, g.text())
				case 6, 7, 8, 9, 10:
					return fmt.Sprintf(`{"type":"assistant",%s,"message":{"content":[{"type":"tool_use","id":"c%d","name":"tool%d","input":{}}]}}`, link, g.n, g.rng.IntN(2))
				case 11, 12, 13, 14, 15: // linked with the call, as results of calls at a time are
					older := known[max(len(known)-1-g.rng.IntN(3), 0)]
					return fmt.Sprintf(`{"type":"user",%s,"toolUseResult":{},"message":{"content":[{"type":"tool_result","tool_use_id":"c%d","content":%s}]}}`, g.record(g.n, older), older, g.text())
				case 16, 17:
					return fmt.Sprintf(`{"type":"progress",%s}`, link)
				case 18, 19:
					g.last, g.records = before, known
					return fmt.Sprintf(`{"type":"last-prompt","leafUuid":"%d"}`, g.rng.IntN(g.n))
				case 20: // another prompt in place of an earlier one
					g.tangled = true
					return fmt.Sprintf(`{"type":"user",%s,"message":{"content":%s}}`, g.record(g.n, max(before-3, 0)), g.text())
				case 21: // a copy
					g.last, g.records, g.tangled = before, known, true
					return fmt.Sprintf(`{"type":"user",%s,"message":{"content":%s}}`, g.record(max(before-1, 0), before-2), g.text())
				case 22:
					g.tangled = true // it may stand before a prompt
					return fmt.Sprintf(`{"type":"system","subtype":"compact_boundary",%s}`, g.record(g.n, max(before-1, 0)))
				}
				return fmt.Sprintf(`{"type":"assistant",%s,"message":{"content":[{"type":"text","text":%s}]}}`, link, g.text())
			},
			true,
		},
		"convtools": {
			grownID + ".jsonl",
			sessionsOpen,
			func(g *grower) string {
				settings, _ := json.Marshal(fmt.Sprintf(`{"dir":%s}`, g.cwd))
				return fmt.Sprintf(`{"format":"convtools-session","version":1}`+"\n"+
					`{"events":[{"seq":1,"ts":%q,"conversation_id":%q,"type":"conversation_opened","context":{"settings":%s}},{"seq":2,"ts":%q,"conversation_id":%q,"type":"user_message","text":"begin"}]}`,
					g.at(), grownID, settings, g.at(), grownID)
			},
			func(g *grower) string {
				head := fmt.Sprintf(`{"events":[{"seq":%d,"ts":%q,"conversation_id":%q,"type":`, g.n+3, g.at(), grownID)
				switch g.rng.IntN(5) {
				case 0, 1:
					return fmt.Sprintf(`%s"user_message","text":%s}]}`, head, g.text())
				case 2:
					return fmt.Sprintf(`%s"tool_call","call_id":"c%d","tool":"tool%d","arguments":"{}"}]}`, head, g.n, g.rng.IntN(2))
				case 3:
					return fmt.Sprintf(`%s"tool_output","call_id":"c%d","content":%s}]}`, head, max(g.n-1-g.rng.IntN(3), 0), g.text())
				}
				return fmt.Sprintf(`%s"agent_message","text":%s}]}`, head, g.text())
			},
			false,
		},
	}
}

func sessionsOpen(o store.Options) (store.Store, bool) { return sessions.Open(o) }

// TestGrown has the file of a conversation be appended to, and changed in all other ways: what an
// index that is brought up to date answers is what one that is made of nothing does, and what is
// recorded. Where a file only grows, what it had is not read again.
func TestGrown(t *testing.T) {
	t.Parallel()
	for name, g := range growingStores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resumed := 0
			for seed := range cases.Of(uint64(1)) {
				resumed += grow(t, g, rand.New(rand.NewPCG(seed, 12)))
			}
			if resumed < 5 {
				t.Errorf("%d times only new messages were indexed", resumed)
			}
		})
	}
}

// grow returns how often no more was indexed than had been added.
func grow(t *testing.T, of growing, rng *rand.Rand) (resumed int) {
	t.Helper()
	home, dir := t.TempDir(), realDir(t)
	cwd, _ := json.Marshal(dir)
	g := &grower{rng: rng, cwd: string(cwd)}
	path := filepath.Join(home, filepath.FromSlash(of.file))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	whole := of.first(g) + "\n"
	lines := func(n int) (text string) {
		for range n {
			g.n++
			text += of.next(g) + "\n"
		}
		return text
	}
	indexed := 0 // messages
	kept := filepath.Join(t.TempDir(), "kept")
	library := func(indexes string) *conversations.Library {
		s, ok := of.open(store.Options{Home: home, Project: project.New(project.Options{All: true})})
		if !ok {
			t.Fatal("there is no store")
		}
		if indexes == "" {
			return conversations.New(conversations.Options{}, s)
		}
		x := conversations.NewIndexes(indexes)
		t.Cleanup(x.Close)
		return conversations.New(conversations.Options{Indexes: x}, s)
	}
	found := 0
	for step := range 25 {
		added := 0
		grows := false
		switch rng.IntN(9) {
		case 0: // edited, and appended to
			at := strings.LastIndexByte(whole[:len(whole)*3/4], '\n') + 1
			edited := strings.Replace(whole[at:], "alpha", "alpho", 1)
			whole = whole[:at] + edited + lines(1)
		case 1: // cut
			whole, g.tangled = whole[:max(len(whole)/2, len(of.first(g))+1)], true
		case 2: // replaced
			g.n, g.tangled = 0, false
			whole = of.first(g) + "\n" + lines(len(strings.Split(whole, "\n")))
		case 3: // a line that is not whole yet
			if strings.HasSuffix(whole, "\n") {
				whole += lines(2)
				whole = whole[:len(whole)-9]
				g.tangled = g.tangled || of.linked // where it stays so, what follows is linked with nothing
			}
		default:
			if !strings.HasSuffix(whole, "\n") {
				whole += "\n"
			}
			added = 1 + rng.IntN(3)
			whole += lines(added)
			grows = step > 0 && !g.tangled
		}
		if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
		modified := time.Date(2026, 6, 1, 0, 0, step, 0, time.UTC)
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
		l := library(kept)
		before := indexed
		indexed = refresh(t, l)[0].Messages
		if now := indexed - before; grows && now <= 2*added {
			resumed++
		} else if grows {
			t.Errorf("step %d: %d lines were added, and %d messages indexed", step, added, now)
		}
		indexes := map[string]*conversations.Library{"that was kept": l}
		if step%5 == 0 {
			anew := library(t.TempDir())
			refresh(t, anew)
			indexes["of nothing"] = anew
		}
		for _, text := range []string{"", "alpha", "東", "straße", "tool1", "begin"} {
			want := withText(t, library(""), text)
			found += len(want)
			for name, l := range indexes {
				if diff := cmp.Diff(want, withText(t, l, text), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("step %d, %q: (-recorded +index %s)\n%s", step, text, name, diff)
				}
			}
		}
		if diff := cmp.Diff(sizes(t, library("")), sizes(t, l)); diff != "" {
			t.Fatalf("step %d: (-recorded +index)\n%s", step, diff)
		}
	}
	if found < 100 {
		t.Errorf("%d messages were found", found)
	}
	return resumed
}

// withText returns the messages with a text.
func withText(t *testing.T, l *conversations.Library, text string) []aMessage {
	t.Helper()
	const most = 1000
	m, err := newest(t.Context(), l, messageQuery{Text: text, Limit: most, MaxText: most, Own: func(tool string) bool { return tool == "tool1" }})
	if err != nil {
		t.Fatal(err)
	}
	return withoutConversation(t, m.Messages)
}

// sizes returns what a listing counts.
func sizes(t *testing.T, l *conversations.Library) (all []string) {
	t.Helper()
	list, err := l.List(t.Context(), conversations.ListQuery{Sizes: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Conversations {
		all = append(all, fmt.Sprintf("%s %q %d %v %+v", c.ID, c.Title, c.Events, c.LastEventAt, *c.Size))
	}
	return all
}
