package jp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// streamOf returns events, a minute apart, for words: S is a turn start, u a request, a an answer, d a
// config delta, x of an unknown type, and cN a compaction up to turn N, from 0.
func streamOf(words ...string) string {
	var events []string
	for i, word := range words {
		kind := map[byte]string{'S': "turn_start", 'u': "chat_request", 'a': "chat_response", 'd': "config_delta", 'x': "future", 'c': "compaction"}[word[0]]
		more := map[byte]string{'u': `, "content": "é` + fmt.Sprint(i) + `"`, 'a': `,"message" :"[,]}"`, 'd': `,"delta":{}`}[word[0]]
		if word[0] == 'c' {
			more = `, "from_turn": 0, "to_turn": ` + word[1:]
		}
		at := time.Date(2026, 5, 1, 12, i, 0, 0, time.UTC).Format("2006-01-02 15:04:05.0")
		events = append(events, fmt.Sprintf(`{ "timestamp": %q,"type":%q%s }`, at, kind, more))
	}
	if len(events) == 0 {
		return "[]\n"
	}
	return "[\n  " + strings.Join(events, ",\n  ") + "\n]\n"
}

// namesOf returns the word and the minute of each event of streamOf.
func namesOf(t interface{ Fatal(args ...any) }, stream string) string {
	var events []struct {
		Timestamp, Type string
		ToTurn          int `json:"to_turn"`
	}
	if err := json.Unmarshal([]byte(stream), &events); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range events {
		name := map[string]string{"turn_start": "S", "chat_request": "u", "chat_response": "a", "config_delta": "d", "future": "x", "compaction": "c" + fmt.Sprint(e.ToTurn)}[e.Type]
		names = append(names, name+e.Timestamp[13:16])
	}
	return strings.Join(names, " ")
}

// forkOf returns the events of a fork of a conversation with these events.
func forkOf(t *testing.T, stream string, cut Cut) string {
	t.Helper()
	f := newFixture(t)
	for _, store := range []string{inUser, inProject} {
		f.write(store+"17000000001-title/metadata.json", testTitle)
		f.write(store+"17000000001-title/events.json", stream)
	}
	w := f.writer()
	w.stage = safefile.StageUnsynced
	id, err := w.Fork(t.Context(), projected, ForkOptions{Turns: cut})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := numberOf(id)
	return f.events(f.find(n))
}

func TestForkOfTurns(t *testing.T) {
	t.Parallel()
	minute := func(n int) time.Time { return time.Date(2026, 5, 1, 12, n, 0, 0, time.UTC) }
	//                  0    1    2    3     4    5    6    7    8    9    10    11   12   13
	stream := streamOf("d", "S", "u", "c0", "S", "u", "x", "S", "u", "d", "c2", "S", "u", "a")
	old := streamOf("d", "u", "a", "u", "a")   // of before there were turns
	mixed := streamOf("d", "u", "a", "S", "u") // and went on with later
	for _, tt := range []struct {
		name   string
		stream string
		cut    Cut
		want   string
	}{
		{"the first two", stream, Cut{First: to(2)}, "d:00 S:01 u:02 c0:03 S:04 u:05 x:06 d:09"},
		{"the last one", stream, Cut{Last: to(1)}, "d:00 x:06 d:09 S:11 u:12 a:13"},
		{"first and last", stream, Cut{First: to(1), Last: to(1)}, "d:00 S:01 u:02 c0:03 x:06 d:09 S:11 u:12 a:13"},
		{"first and last are all", stream, Cut{First: to(2), Last: to(3)}, namesOf(t, stream)},
		{"more than there are", stream, Cut{Last: to(99)}, namesOf(t, stream)},
		{"no first ones", stream, Cut{First: to(0)}, "d:00 x:06 d:09"},
		{"none", stream, Cut{None: true}, "d:00 d:09"},
		{"from", stream, Cut{From: minute(4)}, "d:00 S:04 u:05 x:06 S:07 u:08 d:09 S:11 u:12 a:13"},
		{"in the middle of a turn", stream, Cut{From: minute(5)}, "d:00 x:06 S:07 u:08 d:09 S:11 u:12 a:13"},
		{"until", stream, Cut{Until: minute(4)}, "d:00 S:01 u:02 c0:03 x:06 d:09"},
		{"until behind a compaction", stream, Cut{Until: minute(11)}, "d:00 S:01 u:02 c0:03 S:04 u:05 x:06 S:07 u:08 d:09 c2:10"},
		{"the last of a time", stream, Cut{Until: minute(11), Last: to(1)}, "d:00 x:06 S:07 u:08 d:09"},
		{"one turn without a mark", old, Cut{Last: to(1)}, namesOf(t, old)},
		{"a turn without a mark", mixed, Cut{First: to(1)}, "d:00 u:01 a:02"},
		{"what follows it", mixed, Cut{Last: to(1)}, "d:00 S:03 u:04"},
		{"nothing was said", streamOf(), Cut{Last: to(1)}, ""},
		{"nothing is left", streamOf("S", "u"), Cut{None: true}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := forkOf(t, tt.stream, tt.cut)
			if diff := cmp.Diff(tt.want, namesOf(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for line := range strings.SplitSeq(got, "\n") { // byte for byte
				if line != "[]" && !strings.Contains(tt.stream, strings.TrimSuffix(line, ",")) {
					t.Errorf("%q is not in the source", line)
				}
			}
		})
	}
	if got := forkOf(t, "[ ]", Cut{First: to(3)}); got != "[ ]" {
		t.Errorf("what is kept whole is %q", got)
	}
}

// TestForkOfRandomTurns compares forks with lists of the events of their turns.
func TestForkOfRandomTurns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		turns := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]string{"u", "a"}), 0, 3), 0, 6).Draw(rt, "turns")
		words := []string{"d"}
		for _, turn := range turns {
			words = append(append(words, "S"), turn...)
		}
		first, last := rapid.IntRange(0, 7).Draw(rt, "first"), rapid.IntRange(0, 7).Draw(rt, "last")
		var want []string
		minute := 1
		for i, turn := range turns {
			kept := i < first || i >= len(turns)-last
			for _, word := range append([]string{"S"}, turn...) {
				if kept {
					want = append(want, fmt.Sprintf("%s:%02d", word, minute))
				}
				minute++
			}
		}
		got := forkOf(t, streamOf(words...), Cut{First: &first, Last: &last})
		if diff := cmp.Diff(strings.Join(append([]string{"d:00"}, want...), " "), namesOf(rt, got)); diff != "" {
			rt.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
