package recall_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	visible "github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// TestSizesAgree checks that an event has one number of characters: in searches, in
// turns, by its number, in outlines, and in the sum of the list. It is the number that
// was recorded.
func TestSizesAgree(t *testing.T) {
	t.Parallel()
	t.Run("sample", func(t *testing.T) {
		t.Parallel()
		library, _ := both(t)
		if n := checkSizes(t, library, "e", nil); n < 20 {
			t.Errorf("%d sizes: the test has lost its subject", n)
		}
	})
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 11))
			var want []int
			source := workspaceOf(t, func(w *jptest.Workspace) {
				c := w.Conversation("17700000001", "sizes").Title("Sizes").TurnStart()
				for range 1 + r.IntN(12) {
					words := "marked\n" + randomText(r, []int{10, 700, 2000, 9000, 20_000}[r.IntN(5)])
					want = append(want, utf8.RuneCountInString(words))
					switch r.IntN(4) {
					case 0:
						c.User(words)
					case 1:
						c.Assistant(words)
					case 2:
						c.Reasoning(words)
					default:
						c.ToolResult("a", words, false)
					}
				}
			})
			checkSizes(t, source, "marked", want)
		})
	}
}

// checkSizes compares all sizes that answers give of the events of a source, and with
// those that are wanted of its first conversation. It returns how many there are.
func checkSizes(t *testing.T, source conversations.Source, pattern string, want []int) (sizes int) {
	t.Helper()
	call := func(tool string, arguments map[string]any) *answerElement {
		t.Helper()
		answer, err := conversation.Call(t.Context(), overSource(source), contract.Call{Tool: tool, Arguments: must(json.Marshal(arguments))})
		if err != nil {
			t.Fatal(err)
		}
		return check(t, tool, answer)
	}
	for _, listed := range call("conversation_list", map[string]any{"outline": true}).all("conversation") {
		id := listed.attr("id")
		known := map[string]string{} // the size of an event, by its number
		for i, n := range want {
			known[strconv.Itoa(i+1)] = strconv.Itoa(n)
		}
		compare := func(where string, e *answerElement) {
			number, said := e.attr("event"), e.attr("chars")
			if said == "" {
				return
			}
			if sizes++; known[number] == "" {
				known[number] = said
			}
			if known[number] != said {
				t.Errorf("%s: event %s of %s has %s characters, elsewhere %s", where, number, id, said, known[number])
			}
		}
		for _, e := range listed.all("request") {
			compare("outline", &e)
		}
		for _, found := range call("conversation_grep", map[string]any{"pattern": pattern, "ids": []string{id}, "limit": 200}).all("conversation") {
			for _, e := range found.all("event") {
				compare("conversation_grep", &e)
			}
		}
		numbers := map[string]bool{}
		for turn := range must(strconv.Atoi(listed.attr("turns"))) {
			for _, e := range eventsOf(call("conversation_read", map[string]any{"id": id, "turn": turn + 1})) {
				compare("turn", &e.answerElement)
				numbers[e.attr("event")] = true
			}
		}
		for number := range numbers {
			for _, e := range eventsOf(call("conversation_read", map[string]any{"id": id, "event": must(strconv.Atoi(number)), "around": 2})) {
				compare("event "+number, &e.answerElement)
			}
		}
		total := 0
		for _, n := range want {
			total += n
		}
		if want != nil && listed.attr("chars") != strconv.Itoa(total) {
			t.Errorf("the list has %s characters, want %d", listed.attr("chars"), total)
		}
	}
	return sizes
}

// TestPiecesReachEveryCharacter follows the notes through events that are written
// longer than they were recorded.
func TestPiecesReachEveryCharacter(t *testing.T) {
	t.Parallel()
	for name, words := range map[string]string{
		"hidden":       strings.Repeat("\u202e", 4500),
		"tags":         strings.Repeat("\U000E0041", 17_001),
		"ends of data": strings.Repeat("]]>", 7000),
		"one part":     strings.Repeat("a", 8000) + strings.Repeat("\u202e\n", 4000) + strings.Repeat("b", 8001),
		"arguments":    strings.Repeat("\u202e", 9000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := "user"
			if name == "arguments" {
				kind = "tool_call"
			}
			conv := &recordedConversation{turns: 1, events: []recordedEvent{{1, kind, words}}}
			one := 1
			var got strings.Builder
			var parts []int
			for call := (readCall{Event: &one}); ; {
				answer, err := read(t, conv, call)
				if err != nil || len(parts) > 100 {
					t.Fatalf("%s: %v", call.arguments(), err)
				}
				root := check(t, "conversation_read", answer)
				e := eventsOf(root)[0]
				if e.attr("truncated") == "" {
					got.WriteString(partOf(t, &e.answerElement, kind))
				}
				m := regexp.MustCompile(`Next part: event=1, part=(\d+)\.`).FindStringSubmatch(notesOf(t, root))
				if m == nil {
					break
				}
				part := must(strconv.Atoi(m[1]))
				parts = append(parts, part)
				call = readCall{Event: &one, Part: &part}
			}
			full := words
			if kind == "tool_call" {
				full = "{\n  \"path\": " + text(words) + "\n}"
			}
			if want := visible.Visible(full); got.String() != want {
				t.Errorf("%d characters are reached, want %d, by parts %v", utf8.RuneCountInString(got.String()), utf8.RuneCountInString(want), parts)
			}
			beyond := slices.Max(parts) + 1
			if _, err := read(t, conv, readCall{Event: &one, Part: &beyond}); err == nil {
				t.Errorf("part=%d is not refused", beyond)
			}
		})
	}
}

// TestPartBeyondTheLast is refused where the parts fit.
func TestPartBeyondTheLast(t *testing.T) {
	t.Parallel()
	conv := &recordedConversation{turns: 1, events: []recordedEvent{{1, "user", strings.Repeat("a", 8001)}}}
	one := 1
	for _, part := range []int{3, 4, 11, 1 << 60} {
		if _, err := read(t, conv, readCall{Event: &one, Part: &part}); err == nil || !strings.Contains(err.Error(), "2 parts") {
			t.Errorf("part=%d: %v", part, err)
		}
	}
}
