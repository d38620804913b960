package session

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// randomInput returns an input that need not fit the state: for any task, conversation and call. pick returns a number
// from 0 to below n.
func randomInput(h *host, pick func(n int) int) Input {
	task, work := TaskID(pick(3)), h.state.Work()
	if pick(4) > 0 && work != nil {
		task = work.Task
	}
	conversation := func() string {
		if n := pick(8); n < 7 {
			return id(n)
		}
		return "x"
	}
	text := func() *string { return []*string{nil, pointer(""), pointer("a"), pointer("b")}[pick(4)] }
	parts := func() []Part {
		return [][]Part{nil, {{Text: "a"}}, {image}, {{ImageURL: "ftp://a"}}, {image, {Text: "b"}}}[pick(5)]
	}
	tools := func() InternalTools {
		tools := InternalTools{}
		for _, tool := range []string{PlanTool, SearchTool, ConvTools} {
			if n := pick(4); n > 1 {
				tools[tool] = n == 2
			}
		}
		return tools
	}
	budget := func() Budget {
		b := Budget{Tokens: int64(pick(3)) * 25, Calls: int64(pick(3)) * 2}
		if pick(3) == 0 {
			b.Deadline = h.now.Add(time.Duration(pick(20)) * time.Second)
		}
		return b
	}
	request := func() any {
		switch pick(10) {
		case 0, 1, 2:
			h.made++
			return Create{
				ConversationID: id(h.made), UserInstruction: text(), Items: parts(), Base: text(), Budget: budget(),
				MCPAllowlist: [][]string{nil, nil, {}, {"git"}, {"git/log"}, {"other"}}[pick(6)],
				Internal:     tools(),
			}
		case 3, 4:
			return Send{ConversationID: conversation(), Text: text(), Items: parts(), Budget: budget()}
		case 5:
			return List{}
		case 6:
			limit := pick(3)
			return History{ConversationID: conversation(), Limit: []*int{nil, &limit}[pick(2)]}
		case 7:
			return Destroy{ConversationID: conversation()}
		case 8:
			return Invalid{Tool: ConvSend, Refusal: Refusal{Code: CodeInvalidArguments, Reason: "no"}}
		}
		return Ordinary{Tool: "shell"}
	}
	switch pick(17) {
	case 16:
		return Invoke{Conversation: conversation(), Call: asks("o", request())}
	case 0:
		return Submit{Conversation: conversation(), Context: parts(), Input: parts(), Budget: budget()}
	case 1:
		return Interrupt{Chain: pick(2) == 0, Submission: SubmissionID(pick(4))}
	case 2:
		return Remove{Conversation: conversation()}
	case 3:
		return Recover{}
	case 4:
		return Delta{Task: task, Text: "a"}
	case 5:
		return Response{Task: task, Failure: Failure{Code: "overloaded"}, Usage: Usage{InputTokens: 3}}
	case 6, 7:
		if work != nil {
			return canceled(work)
		}
		return ToolDone{Task: task}
	case 8, 9, 10:
		call := "k1"
		if work != nil && work.Call != nil && pick(4) > 0 {
			call = work.Call.CallID
		}
		return ToolDone{Task: task, Call: call, Content: "done", Success: true}
	case 11:
		return Start{Session: "s", Root: id(0)}
	}
	r := Response{Task: task, Usage: Usage{InputTokens: int64(pick(tokensPerSample))}}
	for range pick(4) {
		switch pick(5) {
		case 0:
			r.Items = append(r.Items, says("m"))
		case 1:
			r.Items = append(r.Items, thinks())
		default:
			r.Items = append(r.Items, asks(string(rune('a'+len(r.Items)-pick(8)/7)), request()))
		}
	}
	return r
}

func randomSession(t checker, pick func(n int) int) *host {
	root := everything()
	root.MCP = []string{"git"}
	return start(t, Config{
		MaxInterruptChainDepth: 1 + pick(3), MaxInterruptsPerTurn: 1 + pick(6), MaxInterruptsPerResponse: 1 + pick(3),
		MaxSamplesPerTurn: 2 + pick(8), MaxSamplesPerSubmission: 2 + pick(30), MaxConversations: 1 + pick(7), Catalogue: catalogue,
	}, root)
}

// Whatever comes in, in any order, every invariant holds after every step, a crash between any two is no more than
// that, and an input that does not fit is an error of a known type.
func TestRandomInputs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pick := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }
		h := randomSession(t, pick)
		for range rapid.IntRange(0, 60).Draw(t, "inputs") {
			h.step(randomInput(h, pick))
		}
		finish(t, h)
	})
}

// finish answers everything that a session asks for: it comes to rest (I7, I13).
func finish(t checker, h *host) {
	t.Helper()
	h.crash()
	for range 1000 {
		work := h.state.Work()
		if work == nil {
			return
		}
		var in Input = Response{Task: work.Task, Items: []Item{says("end")}}
		if work.Stop || work.Call != nil {
			in = canceled(work)
		}
		if err := h.step(in); err != nil {
			t.Fatalf("%T%+v: %v", in, in, err)
		}
	}
	t.Fatalf("the session does not come to rest")
}

func FuzzInputs(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x03\x05\x02\x08\x06\x01\x00\x01\x00\x00\x00\x01\x02\x00\x00\x00\x0c\x03\x04\x00\x02\x02\x01\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1000 {
			return
		}
		pick := func(n int) int {
			if len(data) == 0 {
				return 0
			}
			b := data[0]
			data = data[1:]
			return int(b) % n
		}
		h := randomSession(t, pick)
		for len(data) > 0 {
			h.step(randomInput(h, pick))
		}
		finish(t, h)
	})
}
