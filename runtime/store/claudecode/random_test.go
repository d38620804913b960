package claudecode_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
)

// randomSession returns the text of a session with records in any order, branches,
// parents that are missing or in a circle, and lines that are no records.
func randomSession(r *rand.Rand) string {
	var b strings.Builder
	h := home{project: "/p"}
	n := r.IntN(30)
	for i := 1; i <= n; i++ {
		parent := max(0, i-1-r.IntN(3))
		if r.IntN(10) == 0 {
			parent = r.IntN(n + 3)
		}
		id := i
		if r.IntN(20) == 0 {
			id = 1 + r.IntN(n)
		}
		said := fmt.Sprintf("text %d", i)
		switch r.IntN(12) {
		case 0, 1, 2:
			b.WriteString(h.text(prompt(id, parent, said)))
		case 3, 4, 5:
			b.WriteString(h.text(answer(id, parent, text(said))))
		case 6:
			b.WriteString(h.text(answer(id, parent, call("c", "T", line{"a": said}))))
		case 7:
			b.WriteString(h.text(result(id, parent, "c", said, false)))
		case 8:
			b.WriteString(h.text(record([]string{"system", "attachment"}[r.IntN(2)], id, parent)))
		case 9:
			b.WriteString(h.text(line{"type": "last-prompt", "leafUuid": uuid(1 + r.IntN(n))}))
		case 10:
			b.WriteString("{broken\n\n")
		case 11:
			b.WriteString(h.text(with(answer(id, parent, text(said)), "isSidechain", true)))
		}
	}
	return b.String()
}

// naive is the simplest reader of a session.
func naive(t *testing.T, session string) string {
	type item struct {
		line     int
		id, kind string
		parent   *item
		parentID string
		side     bool
		prompt   bool
		text     string
	}
	var items []*item
	byID := map[string]*item{}
	touched := map[string]int{}
	lines := strings.Split(session, "\n")
	for n, l := range lines[:len(lines)-1] {
		var r struct {
			Type, UUID, ParentUUID, LeafUUID string
			IsSidechain                      bool
			Message                          struct{ Content json.RawMessage }
		}
		if json.Unmarshal([]byte(l), &r) != nil {
			continue
		}
		if r.Type == "last-prompt" {
			touched[r.LeafUUID] = n
			continue
		}
		if byID[r.UUID] != nil {
			continue
		}
		x := &item{line: n, id: r.UUID, kind: r.Type, parentID: r.ParentUUID, side: r.IsSidechain}
		byID[r.UUID] = x
		items = append(items, x)
		var said string
		var blocks []struct {
			Type, Text, Name, Content string
			Input                     struct{ A string }
		}
		switch {
		case json.Unmarshal(r.Message.Content, &said) == nil:
			x.prompt, x.text = true, "user: "+said
		case json.Unmarshal(r.Message.Content, &blocks) == nil:
			switch b := blocks[0]; b.Type {
			case "text":
				x.text = "assistant: " + b.Text
			case "tool_use":
				x.text = fmt.Sprintf("tool_call %s: { \"a\": %q }", b.Name, b.Input.A)
			case "tool_result":
				x.text = "tool_result: " + b.Content
			}
		}
	}
	for _, x := range items {
		if p := byID[x.parentID]; p != x {
			x.parent = p
		}
	}
	var order []*item
	done := map[*item]bool{}
	for _, x := range items {
		var chain []*item // up to the first that stands before
		for y := x; y != nil && !done[y]; y = y.parent {
			done[y] = true
			chain = append(chain, y)
			if slices.Contains(chain, y.parent) { // a circle
				for _, y := range chain[1:] {
					done[y] = false
				}
				chain, x.parent = chain[:1], nil
				break
			}
		}
		slices.Reverse(chain)
		order = append(order, chain...)
	}
	isBelow := func(x, above *item) bool {
		for ; x != nil; x = x.parent {
			if x == above {
				return true
			}
		}
		return false
	}
	latest := func(above *item) int {
		last := 0
		for _, x := range items {
			if isBelow(x, above) {
				last = max(last, x.line)
				if n, ok := touched[x.id]; ok {
					last = max(last, n)
				}
			}
		}
		return last
	}
	behind := func(x *item) *item {
		p := x.parent
		for p != nil && p.kind != "user" && p.kind != "assistant" {
			p = p.parent
		}
		return p
	}
	abandoned := func(x *item) bool {
		for ; x != nil; x = x.parent {
			if !x.prompt || x.side || behind(x) == nil {
				continue
			}
			for _, other := range items {
				if other != x && other.prompt && !other.side && behind(other) == behind(x) && latest(other) > latest(x) {
					return true
				}
			}
		}
		return false
	}
	var b strings.Builder
	turn := 0
	for _, x := range order {
		if x.text == "" || abandoned(x) {
			continue
		}
		if x.prompt || turn == 0 {
			turn++
		}
		fmt.Fprintf(&b, "%d %s\n", turn, x.text)
	}
	return b.String()
}

// A session is read as by the naive reader.
func TestNaive(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.openEmpty()
	for seed := range cases.Of(uint64(500)) {
		session := randomSession(rand.New(rand.NewPCG(seed, 1)))
		want := naive(t, session)
		if want == "" {
			continue
		}
		// The first line makes it one of the project.
		h.write(uuid(1)+".jsonl", h.text(line{"type": "system", "uuid": "first", "timestamp": stamp(1)})+session)
		c, err := find(t, s, "claude-"+transcriptID(1))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(want, said(t, c)); diff != "" {
			t.Fatalf("seed %d: %s\n%s", seed, diff, session)
		}
	}
}

// Whatever is in the file: reading it twice gives the same, in valid UTF-8, and never
// panics.
func FuzzSession(f *testing.F) {
	h := home{project: "/p"}
	f.Add([]byte(h.text(prompt(1, 0, "Go"), answer(2, 1, call("c", "AskUserQuestion", line{"questions": []line{{"question": "q", "options": []line{{"label": "l"}}}}})), result(3, 2, "c", "x<system-reminder>y</system-reminder>", true))))
	f.Add([]byte(h.text(with(with(record("system", 3, 0), "subtype", "compact_boundary"), "logicalParentUuid", uuid(3)), line{"type": "summary", "summary": "s", "leafUuid": uuid(3)})))
	for seed := range uint64(20) {
		f.Add([]byte(randomSession(rand.New(rand.NewPCG(seed, 2)))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h := newHome(t)
		h.write(uuid(1)+".jsonl", h.text(line{"type": "user", "uuid": "first", "timestamp": stamp(1), "version": "1.0.1", "message": line{"content": "first"}})+string(data))
		found, _ := list(t, h.open())
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}
