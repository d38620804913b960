package gemini_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
)

// randomLog returns a log in which messages are replaced, listed again, gone back from,
// and forgotten.
func randomLog(r *rand.Rand) []line {
	lines := []line{header(1), user(0, "first")}
	id := func() int { return 1 + r.IntN(12) }
	random := func(n int) line {
		said := fmt.Sprintf("text %d.%d", n, r.IntN(3))
		switch r.IntN(5) {
		case 0, 1:
			return user(n, said)
		case 2:
			return message("info", n, said)
		case 3:
			return answer(n, said).with("thoughts", []line{{"subject": said}})
		default:
			return answer(n, said).with("toolCalls", []line{tool(fmt.Sprintf("c%d", r.IntN(100)), "T", "success", line{"a": said}, line{"output": said})})
		}
	}
	for range r.IntN(20) {
		switch r.IntN(8) {
		case 0:
			lines = append(lines, line{"$rewindTo": fmt.Sprintf("m%d", id())})
		case 1:
			var messages []line
			for range r.IntN(5) {
				messages = append(messages, random(id()))
			}
			lines = append(lines, list(messages...))
		case 2:
			lines = append(lines, line{"$set": line{"lastUpdated": stamp(1)}})
		default:
			lines = append(lines, random(id()))
		}
	}
	return lines
}

// naive reads a log in the plainest way: into a list of messages, with what each says.
func naive(lines []line) string {
	type item struct {
		id      string
		own     bool
		dropped bool
		message line
	}
	says := func(m line) string { // however it is recorded
		s := fmt.Sprint(m["type"], m["toolCalls"] != nil)
		switch c := m["content"].(type) {
		case string:
			s += c
		case []line:
			s += c[0]["text"].(string)
		}
		if calls, ok := m["toolCalls"].([]line); ok {
			s += calls[0]["id"].(string)
		}
		return s
	}
	var items []*item
	aliases := map[string]*item{}
	copied := map[*item]bool{}
	put := func(m line, own bool) {
		id := m["id"].(string)
		x := aliases[id]
		switch {
		case x == nil && !own:
			for _, other := range slices.Backward(items) {
				if !other.dropped && !copied[other] && says(other.message) == says(m) {
					copied[other] = true
					aliases[id] = other
					return
				}
			}
			fallthrough
		case x == nil:
			x = &item{id, own, false, m}
			items = append(items, x)
			aliases[id] = x
		case own || !x.own:
			if says(x.message) != says(m) {
				copied[x] = false
			}
			if own || says(x.message) != says(m) {
				x.own, x.message, x.dropped = own, m, false
			}
			if own {
				copied[x] = false
			}
		}
	}
	for _, l := range lines {
		set, _ := l["$set"].(line)
		messages, _ := set["messages"].([]line)
		for _, m := range messages {
			put(m, false)
		}
		if to, ok := l["$rewindTo"].(string); ok {
			from := max(0, slices.Index(items, aliases[to]))
			for _, x := range items[from:] {
				x.dropped = true
			}
		}
		if l["id"] != nil {
			put(l, true)
		}
	}
	var b strings.Builder
	turn := 0
	calls := map[any]bool{}
	for _, x := range items {
		m := x.message
		if x.dropped || m["type"] == "info" {
			continue
		}
		if m["type"] == "user" {
			turn++
			fmt.Fprintf(&b, "%d user: %s\n", turn, m["content"].([]line)[0]["text"])
			continue
		}
		turn = max(turn, 1)
		if thoughts, ok := m["thoughts"].([]line); ok {
			fmt.Fprintf(&b, "%d reasoning: %s\n", turn, thoughts[0]["subject"])
		}
		fmt.Fprintf(&b, "%d assistant: %s\n", turn, m["content"])
		if list, ok := m["toolCalls"].([]line); ok && !calls[list[0]["id"]] {
			calls[list[0]["id"]] = true
			fmt.Fprintf(&b, "%d tool_call T: { \"a\": %q }\n%d tool_result: %s\n", turn, list[0]["args"].(line)["a"], turn, m["content"])
		}
	}
	return b.String()
}

// A log is read as the naive reader reads it.
func TestNaive(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for seed := range cases.Of(uint64(400)) {
		lines := randomLog(rand.New(rand.NewPCG(seed, 1)))
		want := naive(lines)
		h.write(logFile(1), text(lines...))
		found, _ := storetest.List(t, h.open(), store.Live)
		if len(found) != 1 {
			t.Fatalf("seed %d: %v", seed, found)
		}
		if diff := cmp.Diff(want, storetest.Said(t, found[0])); diff != "" {
			t.Fatalf("seed %d: %s\n%s", seed, diff, text(lines...))
		}
	}
}

// Whatever is in the file: reading it twice gives the same, in valid UTF-8, and never
// panics.
func FuzzLog(f *testing.F) {
	f.Add([]byte(text(user(2, "Go"), answer(3, "x").with("thoughts", []line{{"subject": "s"}}).with("toolCalls", []line{tool("c", "ask_user", "error", line{"questions": []line{{"question": "q"}}}, line{"error": "<untrusted_context>x</untrusted_context>"})}))))
	f.Add([]byte(text(list(user(2, "a"), user(10, "<state_snapshot>1"), answer(11, "Got it."), user(12, "a")), line{"$rewindTo": "m12"}, line{"$set": line{"summary": "s"}})))
	for seed := range uint64(10) {
		f.Add([]byte(text(randomLog(rand.New(rand.NewPCG(seed, 2)))...)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h := newHome(t)
		h.write(logFile(1), text(header(1), user(1, "first"))+string(data))
		o := `{"sessionId":"` + uuid(2) + `","messages":[{"id":"m1","type":"user","content":"first"},` + string(data) + `]}`
		if json.Valid([]byte(o)) {
			h.write(strings.TrimSuffix(logFile(2), "l"), o)
		}
		found, _ := storetest.List(t, h.open(), store.Live)
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}
