package conversationcli_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// compacted writes a conversation of turns that each have all that can be
// compacted, with compactions behind them, and returns its directory.
func compacted(t *testing.T, turns int, compactions ...string) string {
	t.Helper()
	dir := t.TempDir()
	w := jptest.New(dir, "tests")
	c := w.Conversation("17600000000", "x").Title("Long")
	for n := range turns {
		id := fmt.Sprint("call", n)
		c.TurnStart().User(fmt.Sprint("ask ", n)).Reasoning(fmt.Sprint("think ", n)).
			ToolCall(id, "shell", map[string]any{"command": fmt.Sprint("do ", n)}).
			ToolResult(id, fmt.Sprint("done ", n), n%2 == 1).Assistant(fmt.Sprint("say ", n))
	}
	for i, compaction := range compactions {
		c.RawEvent(fmt.Sprintf(`{"type":"compaction","timestamp":"2026-05-01 12:%02d:00.0",%s}`, i, compaction))
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// printed is what print writes of a conversation, a line for each event.
func printed(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	got := run(t, dir, append([]string{"print", "17600000000", "--compacted", "--style=full"}, args...)...)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	heading := regexp.MustCompile(`(?m)^── ([a-z ]+) ── turns? ([0-9–]+) ──.*\n`)
	text := heading.ReplaceAllString(got.stdout, "$2 $1: ")
	var lines []string
	for event := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		lines = append(lines, strings.Join(strings.Fields(event), " "))
	}
	return lines
}

func whole(n int) []string {
	result := "tool result"
	if n%2 == 1 {
		result = "tool error"
	}
	return []string{
		fmt.Sprintf("%d user: ask %d", n+1, n), fmt.Sprintf("%d reasoning: think %d", n+1, n), fmt.Sprintf(`%d tool call: shell { "command": "do %d" }`, n+1, n),
		fmt.Sprintf("%d %s: done %d", n+1, result, n), fmt.Sprintf("%d assistant: say %d", n+1, n),
	}
}

func summed(turns, text string) []string {
	return []string{turns + " user: [Summary of previous conversation]", turns + " assistant: " + text}
}

func TestCompacted(t *testing.T) {
	t.Parallel()
	thoughtless := func(n int) []string {
		return slices.DeleteFunc(whole(n), func(line string) bool { return strings.Contains(line, " reasoning: ") })
	}
	const long = `"from_turn":0,"to_turn":4,"summary":{"summary":"all of it"}`
	for _, tt := range []struct {
		name        string
		compactions []string
		args        []string
		want        [][]string
	}{
		{"nothing", nil, nil, [][]string{whole(0), whole(1), whole(2), whole(3), whole(4)}},
		{"a summary", []string{`"from_turn":0,"to_turn":2,"summary":{"summary":"the beginning"}`}, nil, [][]string{summed("1–3", "the beginning"), whole(3), whole(4)}},
		{"of one turn", []string{`"from_turn":3,"to_turn":3,"summary":{"summary":"short"}`}, []string{"--last=2"}, [][]string{summed("4", "short"), whole(4)}},
		{"one in another", []string{long, `"from_turn":2,"to_turn":2,"summary":{"summary":"the middle"}`}, nil, [][]string{summed("1–2", "all of it"), summed("3", "the middle"), summed("4–5", "all of it")}},
		{"one around another", []string{`"from_turn":2,"to_turn":2,"summary":{"summary":"the middle"}`, long}, nil, [][]string{summed("1–5", "all of it")}},
		{"from within it", []string{`"from_turn":0,"to_turn":2,"summary":{"summary":"the beginning"}`}, []string{"--turn=2..4"}, [][]string{summed("1–3", "the beginning"), whole(3)}},
		{"beyond the end", []string{`"from_turn":4,"to_turn":99999999,"summary":{"summary":"the end"}`}, []string{"--last=2"}, [][]string{whole(3), summed("5", "the end")}},
		{"without reasoning", []string{`"from_turn":0,"to_turn":3,"reasoning":"strip"`}, []string{"--turn=4.."}, [][]string{thoughtless(3), whole(4)}},
		{"without tools", []string{`"from_turn":0,"to_turn":3,"tool_calls":{"policy":"omit"}`}, []string{"--turn=4.."}, [][]string{{"4 user: ask 3", "4 reasoning: think 3", "4 assistant: say 3"}, whole(4)}},
		{"without what they got", []string{`"from_turn":0,"to_turn":3,"tool_calls":{"policy":"strip","request":true,"response":false}`}, []string{"--turn=4"}, [][]string{{"4 user: ask 3", "4 reasoning: think 3", "4 tool call: shell", "4 tool error: done 3", "4 assistant: say 3"}}},
		{"without what they returned", []string{`"from_turn":0,"to_turn":3,"tool_calls":{"policy":"strip","request":false,"response":true}`}, []string{"--turn=3..4"}, [][]string{
			{"3 user: ask 2", "3 reasoning: think 2", `3 tool call: shell { "command": "do 2" }`, "3 tool result: [compacted] shell: success", "3 assistant: say 2"},
			{"4 user: ask 3", "4 reasoning: think 3", `4 tool call: shell { "command": "do 3" }`, "4 tool error: [compacted] shell: error", "4 assistant: say 3"},
		}},
		{"of each kind the last one", []string{`"from_turn":0,"to_turn":4,"tool_calls":{"policy":"omit"},"reasoning":"strip"`, `"from_turn":0,"to_turn":4,"tool_calls":{"policy":"strip","request":false,"response":false}`}, []string{"--turn=5"}, [][]string{thoughtless(4)}},
		{"what is not understood", []string{`"from_turn":"x"`, `"from_turn":-2,"to_turn":3,"summary":{"summary":"no"}`, `"to_turn":3,"summary":{"summary":"no"}`, `"from_turn":3,"to_turn":1,"summary":{"summary":"no"}`, `"from_turn":0,"to_turn":4,"reasoning":"polish","tool_calls":{"policy":"hum"}`}, []string{"--turn=5"}, [][]string{whole(4)}},
		{"a style that shows nothing of its first event", []string{long}, []string{"--style=chat", "--turn=5"}, [][]string{summed("1–5", "all of it")}},
		{"from where it ends", []string{`"from_turn":0,"to_turn":2,"summary":{"summary":"the beginning"}`}, []string{"--from=last-compaction"}, [][]string{whole(3), whole(4)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := compacted(t, 5, tt.compactions...)
			if diff := cmp.Diff(slices.Concat(tt.want...), printed(t, dir, tt.args...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompactedJSON(t *testing.T) {
	t.Parallel()
	dir := compacted(t, 3, `"from_turn":0,"to_turn":1,"summary":{"summary":"\u0009é"}`, `"from_turn":2,"to_turn":2,"tool_calls":{"policy":"strip","request":true,"response":true}`)
	got := run(t, dir, "print", "17600000000", "--compacted", "--format=json-pretty")
	stamp := regexp.MustCompile(`"timestamp": "[^"]+"`)
	const want = `[
  {
    T,
    "type": "chat_request",
    "content": "[Summary of previous conversation]",
    "turn": 1,
    "last_turn": 2
  },
  {
    T,
    "type": "chat_response",
    "message": "\té",
    "turn": 1,
    "last_turn": 2
  },
  {
    T,
    "type": "turn_start",
    "turn": 3
  },
  {
    T,
    "type": "chat_request",
    "content": "ask 2",
    "turn": 3
  },
  {
    T,
    "type": "chat_response",
    "reasoning": "think 2",
    "turn": 3
  },
  {
    T,
    "type": "tool_call_request",
    "id": "call2",
    "name": "shell",
    "arguments": {},
    "turn": 3
  },
  {
    T,
    "type": "tool_call_response",
    "id": "call2",
    "content": "[compacted] shell: success",
    "is_error": false,
    "turn": 3
  },
  {
    T,
    "type": "chat_response",
    "message": "say 2",
    "turn": 3
  }
]
`
	if diff := cmp.Diff(want, stamp.ReplaceAllString(got.stdout, "T")); diff != "" || got.code != 0 {
		t.Errorf("exit code %d (-want +got):\n%s", got.code, diff)
	}
}

// TestCompactedAtRandom compares with asking each turn of every compaction.
func TestCompactedAtRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		turns := rapid.IntRange(1, 6).Draw(rt, "turns")
		of := make([]string, turns)
		var compactions []string
		for i := range rapid.IntRange(0, 5).Draw(rt, "compactions") {
			from, to := rapid.IntRange(0, 7).Draw(rt, "from"), rapid.IntRange(0, 7).Draw(rt, "to")
			compactions = append(compactions, fmt.Sprintf(`"from_turn":%d,"to_turn":%d,"summary":{"summary":"s%d"}`, from, to, i))
			for turn := range of {
				if from <= turn && turn <= to {
					of[turn] = fmt.Sprint("s", i)
				}
			}
		}
		var want []string
		for turn := 0; turn < turns; {
			if of[turn] == "" {
				want = append(want, whole(turn)...)
				turn++
				continue
			}
			first := turn
			for turn++; turn < turns && of[turn] == of[first]; turn++ {
			}
			name := fmt.Sprint(first + 1)
			if turn > first+1 {
				name += fmt.Sprint("–", turn)
			}
			want = append(want, summed(name, of[first])...)
		}
		if diff := cmp.Diff(want, printed(t, compacted(t, turns, compactions...))); diff != "" {
			rt.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
