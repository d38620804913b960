package opencode_test

import (
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

// randomSession returns a session with messages in any order, answers to any of them,
// parts of all types, and something undone.
func randomSession(r *rand.Rand) sess {
	s := sess{n: 1, title: "Random", created: at(0)}
	for n := 1; n <= 1+r.IntN(12); n++ {
		m := msg{n: n, created: at(1 + r.IntN(20)), data: object{"role": []string{"user", "assistant", "assistant"}[r.IntN(3)]}}
		if m.data["role"] == "assistant" {
			m.data["parentID"] = messageID(r.IntN(14))
			m.data["summary"] = r.IntN(10) == 0
		}
		for p := range r.IntN(4) {
			said := fmt.Sprintf("text %d.%d", n, p)
			switch r.IntN(8) {
			case 0, 1, 2:
				m.parts = append(m.parts, text(said))
			case 3:
				m.parts = append(m.parts, text(said).and("synthetic", true))
			case 4:
				m.parts = append(m.parts, object{"type": "reasoning", "text": said})
			case 5:
				status := []string{"pending", "running", "completed", "error"}[r.IntN(4)]
				m.parts = append(m.parts, tool("T", "c", status, object{"a": said}, object{"output": "out " + said, "error": "failed " + said}))
			case 6:
				m.parts = append(m.parts, object{"type": []string{"step-start", "patch", "invented"}[r.IntN(3)]})
			case 7:
				m.parts = append(m.parts, object{"type": "file", "url": "data:"})
			}
		}
		s.messages = append(s.messages, m)
	}
	if r.IntN(4) == 0 {
		s.revert = object{"messageID": messageID(1 + r.IntN(14))}
	}
	return s
}

// naive reads a session in the plainest way.
func naive(s sess) string {
	messages := slices.Clone(s.messages)
	slices.SortFunc(messages, func(a, b msg) int { return 100*(a.created-b.created) + a.n - b.n })
	for i, m := range messages {
		if s.revert != nil && s.revert["messageID"] == messageID(m.n) {
			messages = messages[:i]
			break
		}
	}
	// Blocks of messages: one of the user with its answers, or answers to what is not there.
	var blocks [][]msg
	block := map[string]int{} // of a message of the user
	for _, m := range messages {
		if m.data["role"] == "user" {
			block[messageID(m.n)] = len(blocks)
			blocks = append(blocks, []msg{m})
		}
	}
	var begin []msg
	last := -1 // block of the message before
	for _, m := range messages {
		if m.data["role"] == "user" {
			last = block[messageID(m.n)]
			continue
		}
		b, ok := block[m.data["parentID"].(string)]
		if !ok {
			b = last
		}
		last = b
		if b < 0 {
			begin = append(begin, m)
		} else {
			blocks[b] = append(blocks[b], m)
		}
	}
	var b strings.Builder
	turn := 0
	tell := func(format string, args ...any) {
		turn = max(turn, 1)
		fmt.Fprintf(&b, "%d ", turn)
		fmt.Fprintf(&b, format+"\n", args...)
	}
	for _, m := range slices.Concat(append([][]msg{begin}, blocks...)...) {
		if m.data["role"] == "user" {
			said, any := []string{}, false
			for _, p := range m.parts {
				isText := p["type"] == "text" && p["synthetic"] == nil
				any = any || isText || p["type"] == "file"
				if isText {
					said = append(said, p["text"].(string))
				}
			}
			if any {
				turn++
				tell("%s", strings.TrimSuffix("user: "+strings.Join(said, " "), ": "))
			}
			continue
		}
		if m.data["summary"] == true {
			continue
		}
		for _, p := range m.parts {
			switch p["type"] {
			case "text":
				if p["synthetic"] == nil {
					tell("assistant: %s", p["text"])
				}
			case "reasoning":
				tell("reasoning: %s", p["text"])
			case "tool":
				state := p["state"].(object)
				tell("tool_call T: { \"a\": %q }", state["input"].(object)["a"])
				switch state["status"] {
				case "completed":
					tell("tool_result: %s", state["output"])
				case "error":
					tell("tool_result failed: %s", state["error"])
				}
			}
		}
	}
	return b.String()
}

// A session is read as the naive reader reads it.
func TestNaive(t *testing.T) {
	t.Parallel()
	inDatabase := newHome(t)
	o := inDatabase.own("opencode.db")
	o.exec(schema)
	for seed := range cases.Of(uint64(100)) {
		s := randomSession(rand.New(rand.NewPCG(seed, 1)))
		want := naive(s)
		for _, table := range []string{"session", "message", "part"} {
			o.exec("DELETE FROM " + table)
		}
		o.exec("PRAGMA wal_checkpoint(TRUNCATE)")
		o.record(s)
		if diff := cmp.Diff(want, inDatabase.said()); diff != "" {
			t.Fatalf("seed %d: %s\n%v", seed, diff, s)
		}
		if seed%10 == 0 {
			inTree := newHome(t)
			inTree.tree(s)
			if diff := cmp.Diff(want, inTree.said()); diff != "" {
				t.Fatalf("seed %d, in a tree: %s\n%v", seed, diff, s)
			}
		}
	}
}

// Whatever is recorded: reading it twice gives the same, in valid UTF-8, and never
// panics.
func FuzzSession(f *testing.F) {
	f.Add(object{"role": "user"}.String(), text("Go\x00").String(), object{"type": "compaction"}.String(), object{"messageID": messageID(1)}.String())
	f.Add(object{"role": "assistant", "parentID": messageID(1), "summary": true}.String(), `{"type":"text","text":"\ud83d"}`, "{broken", "null")
	f.Add(object{"role": "assistant"}.String(),
		tool("question", "c", "completed", object{"questions": []object{{"question": "q", "options": []object{{"label": "l"}}}}}, object{"metadata": object{"answers": [][]string{{"a"}}}}).String(),
		tool("bash", "c", "error", "text", object{"error": 7, "time": object{"start": -1, "end": 1e300}}).String(), "{")
	f.Fuzz(func(t *testing.T, message, first, second, undone string) {
		h := newHome(t)
		h.tree(sess{n: 1, messages: []msg{prompt(1, text("Go"))}})
		h.write("storage/session/p/"+sessionID(1)+".json", `{"directory":"`+h.project+`","title":`+first+`,"revert":`+undone+`}`)
		h.write("storage/message/"+sessionID(1)+"/"+messageID(2)+".json", message)
		h.write("storage/part/"+messageID(2)+"/"+partID(2, 0)+".json", first)
		h.write("storage/part/"+messageID(2)+"/"+partID(2, 1)+".json", second)
		found, _ := storetest.List(t, h.open(), store.Live)
		for _, c := range found {
			storetest.CheckReading(t, c)
		}
	})
}
