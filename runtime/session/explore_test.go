package session

import (
	"bytes"
	"flag"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// explored bounds the exploration of TestExplore: make prove explores all.
var explored = struct{ states, whole, queue, conversations *int }{
	flag.Int("states", 600, "how many states TestExplore goes on from, nearest first; 0 is all"),
	flag.Int("whole", 100, "of how many of them the log is folded and checked from its beginning, and not only from the state before"),
	flag.Int("queue", 1, "how many submissions wait in TestExplore"),
	flag.Int("conversations", 3, "how many conversations TestExplore has, destroyed ones too"),
}

// place is a state that TestExplore has reached, and how.
type place struct {
	state State
	audit audit  // of the log that leads to it
	from  *place // nil for the start
	in    Input
}

// log returns all events that lead to a place.
func (p *place) log(t checker) []Event {
	var inputs []Input
	for ; p.from != nil; p = p.from {
		inputs = append(inputs, p.in)
	}
	var log []Event
	var s State
	for _, in := range slices.Backward(inputs) {
		next, events, err := Step(s, epoch, in)
		if err != nil {
			t.Fatalf("the way to a state cannot be gone again: %v", err)
		}
		s, log = next, append(log, events...)
	}
	return log
}

// exploration is a breadth-first search through all states that the shipped reducer can reach, up to what cannot be
// observed: the numbers that only count, the time, and the texts of histories. So the way to a violation is a shortest
// one.
type exploration struct {
	t       *testing.T
	name    string
	limited bool // samples and interrupts are few, and count
	whole   bool // logs are checked from their beginning
	seen    map[uint64]struct{}
	seed    maphash.Seed
	queue   []*place
	replies map[reply][]Item
	at      *place // the one that a step is taken from
	in      Input

	transitions, refused, recoveries, deepest int
	longest                                   int64
}

// reply is a line of a script where so many conversations have been made.
type reply struct {
	line string
	made int
}

// Helper and Fatalf make it a checker, which reports the way.
func (x *exploration) Helper() { x.t.Helper() }

func (x *exploration) Fatalf(format string, args ...any) {
	x.t.Helper()
	var way []string
	for p := x.at; p != nil; p = p.from {
		way = append(way, fmt.Sprintf("%T%+v", p.in, p.in))
	}
	slices.Reverse(way)
	x.t.Fatalf("%s\nafter\n  %s\n  %T%+v", fmt.Sprintf(format, args...), strings.Join(way, "\n  "), x.in, x.in)
}

// reports reports whether an input says how work ended, or that none goes on.
func reports(in Input) bool {
	switch in.(type) {
	case Response, ToolDone, Recover:
		return true
	}
	return false
}

// step takes a step from a place, holds every invariant, and returns where it leads; nil where the input is refused.
//
// That a state is the fold of its log is held for each step: the events, applied to the state before, give the state
// behind. With that of the start, it is true of every log.
func (x *exploration) step(p *place, in Input) *place {
	x.t.Helper()
	x.at, x.in = p, in
	next, events, err := Step(p.state, epoch, in)
	if err != nil {
		if !reflect.DeepEqual(next, p.state) {
			x.Fatalf("the input is refused and changes the state")
		}
		x.refused++
		return nil
	}
	x.transitions++
	folded := p.state.clone()
	for _, e := range events {
		if !folded.follows(e) {
			x.Fatalf("I14: the log does not fold at %+v", e)
		}
		folded.apply(e)
	}
	if problem := folded.unfinished(); problem != "" || !reflect.DeepEqual(folded, next) {
		x.Fatalf("I14: the fold of the log is another state, or not one between two steps: %s", problem)
	}
	reached := &place{state: next, from: p, in: in, audit: p.audit.with(x, events)}
	checkAudited(x, next, reached.audit)
	if x.whole {
		checkState(x, next, reached.log(x))
	}
	if before, after := p.state.Work(), next.Work(); before != nil && !reports(in) && (after == nil || after.Task != before.Task || !reflect.DeepEqual(after.Call, before.Call)) {
		x.Fatalf("%+v is replaced by %+v, while the host works", before, after)
	}
	x.longest = max(x.longest, next.seq)
	x.deepest = max(x.deepest, len(next.stack))
	return reached
}

// key is what decides on what happens from now on. Not of it are the results that calls have and the ids of calls, since
// nothing but outputs is made of them; what is open in a task that is being stopped, but for its tool, since all of it is
// closed alike; and which of the conversations that are not the root is called which, since they differ in nothing else.
func (x *exploration) key(s State) uint64 {
	others := len(s.conversations) - 1
	names := make([]byte, others)
	for i := range names {
		names[i] = byte('1' + i)
	}
	least := x.named(nil, s, names)
	var other []byte
	permute(names, 0, func() {
		if other = x.named(other[:0], s, names); bytes.Compare(other, least) < 0 {
			least, other = other, least
		}
	})
	return maphash.Bytes(x.seed, least)
}

// permute calls f for every order of what is behind the first n, but for the one that there is.
func permute(names []byte, n int, f func()) {
	for i := n; i < len(names); i++ {
		names[n], names[i] = names[i], names[n]
		if i > n {
			f()
		}
		permute(names, n+1, f)
		names[n], names[i] = names[i], names[n]
	}
}

// named appends the key of a state in which the conversations behind the root have names.
func (x *exploration) named(b []byte, s State, names []byte) []byte {
	name := func(id string) byte {
		if i := slices.Index(s.conversations, s.Conversation(id)); i > 0 {
			return names[i-1]
		} else if i < 0 { // it is still to be created
			return '+'
		}
		return '0'
	}
	flag := func(letter byte, set bool) {
		if set {
			b = append(b, letter)
		}
	}
	b = append(b, byte('0'+len(names)))
	for _, want := range slices.Sorted(slices.Values(append([]byte{'0'}, names...))) {
		for c := range s.Conversations() {
			if name(c.ID) != want {
				continue
			}
			b = append(b, want)
			flag('d', c.Destroyed)
			if c.turn != nil {
				b = append(b, 't')
				flag('o', c.turn.outside)
				if x.limited {
					b = append(b, byte('0'+c.turn.samples), byte('0'+c.turn.interrupts))
				}
			}
		}
	}
	for _, batch := range s.stack {
		b = append(b, '/', name(batch.caller))
		for _, f := range batch.frames {
			b = append(b, ' ', name(f.call.Target()))
			flag('r', f.result != nil)
		}
	}
	for _, q := range s.queue {
		b = append(b, '<', name(q.Conversation))
		if q.Call != nil {
			b = append(b, 'c', name(targetOf(q.Call.Request)))
		}
	}
	t := s.task
	if t == nil {
		return b
	}
	b = append(b, '!', name(t.conversation))
	flag('s', len(t.open) == 0)
	if t.stop == nil {
		for _, call := range t.open {
			b = append(append(b, ' '), call.Name...)
			if target := targetOf(call.Request); target != "" {
				b = append(b, ' ', name(target))
			}
		}
		return b
	}
	b = append(b, 'x')
	flag('c', t.stop.Chain)
	flag('d', t.stop.Destroy)
	return b
}

// targetOf returns the conversation that a request names.
func targetOf(request any) string {
	switch request := request.(type) {
	case Create:
		return request.ConversationID
	case Send:
		return request.ConversationID
	}
	return ""
}

// inputs returns everything that can happen in a state.
func (x *exploration) inputs(s State) []Input {
	var ids []string
	for c := range s.Conversations() {
		ids = append(ids, c.ID)
	}
	inputs := []Input{Recover{}, Interrupt{}, Interrupt{Chain: true}}
	for _, q := range s.queue {
		inputs = append(inputs, Interrupt{Chain: true, Submission: q.ID})
	}
	for _, to := range ids {
		inputs = append(inputs, Remove{Conversation: to})
		if s.task == nil || len(s.queue) < *explored.queue {
			inputs = append(inputs, Submit{Conversation: to, Input: []Part{{Text: "go"}}})
			inputs = append(inputs, Invoke{Conversation: ids[0], Call: asks("o", Send{ConversationID: to, Text: pointer("x")})})
		}
	}
	if s.task == nil && len(ids) < *explored.conversations {
		inputs = append(inputs, Invoke{Conversation: ids[0], Call: asks("o", Create{ConversationID: id(len(ids)), UserInstruction: pointer("x")})})
	}
	t := s.task
	if t == nil {
		return inputs
	}
	if t.stop != nil {
		inputs = append(inputs, canceled(s.Work()))
	}
	if call := t.ordinaryCall(); call != nil {
		return append(inputs, ToolDone{Task: t.id, Call: call.CallID, Content: "done", Success: true})
	}
	inputs = append(inputs, Response{Task: t.id, Failure: Failure{Code: "overloaded"}, Usage: Usage{InputTokens: tokensPerSample}})
	lines := []string{"say a", "say ", "think", "twice", "list", "tool", "tool + tool", "invalid + send 1 x"}
	if len(ids) < *explored.conversations {
		lines = append(lines, "create x", "invalid + create x", "say a + create x", "tool + create x", "create x + create y", "create x + list")
	}
	if t.stop != nil { // a response that comes late: what it calls is closed, whatever it is
		lines = []string{"say a", "twice", "tool + create x"}
	}
	for n := range len(ids) + 1 { // and one that there is not
		if t.stop != nil {
			break
		}
		to := strconv.Itoa(n)
		lines = append(lines, "send "+to+" x", "destroy "+to, "send "+to+" x + destroy "+to, "history "+to)
		for m := range len(ids) {
			lines = append(lines, "send "+to+" x + send "+strconv.Itoa(m)+" y")
		}
		if len(ids) < *explored.conversations {
			lines = append(lines, "create x + send "+to+" y")
		}
	}
	for _, line := range lines {
		inputs = append(inputs, x.response(t.id, line, len(ids)-1))
	}
	return inputs
}

// response returns the response that a line is.
func (x *exploration) response(task TaskID, line string, made int) Input {
	key := reply{line, made}
	items, ok := x.replies[key]
	if !ok {
		h := &host{t: x, made: made}
		items = h.reply(task, line).(Response).Items
		x.replies[key] = items
	}
	return Response{Task: task, Items: items, Usage: Usage{InputTokens: tokensPerSample - 1, OutputTokens: 1}}
}

// visit adds a place unless there is one like it.
func (x *exploration) visit(p *place) {
	key := x.key(p.state)
	if _, been := x.seen[key]; !been {
		x.seen[key] = struct{}{}
		x.queue = append(x.queue, p)
	}
}

// comesToRest holds that a session ends what has begun once models answer (I7, I13), and that every call has its one
// output then (I2).
func (x *exploration) comesToRest(p *place) {
	x.t.Helper()
	for steps := 0; p.state.task != nil; steps++ {
		if steps > 100 {
			x.Fatalf("the session does not come to rest")
		}
		t := p.state.task
		in := canceled(p.state.Work())
		if t.stop == nil && t.ordinaryCall() == nil {
			in = Response{Task: t.id, Items: []Item{says("end")}}
		}
		x.at, x.in = p, in
		next, events, err := Step(p.state, epoch, in)
		if err != nil {
			x.Fatalf("what the session waits for is refused: %v", err)
		}
		p = &place{state: next, from: p, in: in, audit: p.audit.with(x, events)}
	}
	for c := range p.state.Conversations() {
		if c.turn != nil || len(p.audit.of[c.ID].open) > 0 {
			x.Fatalf("%s has not come to rest", label(c.ID))
		}
	}
}

// TestExplore explores the states that the reducer reaches with up to three conversations and two calls in a response:
// whatever models and people do, in every order, with a crash after every record. Without limits there is no end to what
// may happen, but one to the states; with limits, what they refuse is explored too. -states=0 goes on until no state is
// left that has not been gone on from.
func TestExplore(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]Config{
		"unlimited": {MaxInterruptChainDepth: 3, MaxInterruptsPerTurn: 1 << 20, MaxInterruptsPerResponse: 2, MaxSamplesPerTurn: 1 << 20, MaxConversations: *explored.conversations},
		"limited":   {MaxInterruptChainDepth: 1, MaxInterruptsPerTurn: 2, MaxInterruptsPerResponse: 1, MaxSamplesPerTurn: 2, MaxConversations: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &exploration{t: t, name: name, limited: name == "limited", seen: map[uint64]struct{}{}, seed: maphash.MakeSeed(), replies: map[reply][]Item{}}
			x.explore(config)
		})
	}
}

func (x *exploration) explore(config Config) {
	x.visit(x.step(&place{}, Start{Session: "session", Root: id(0), Context: everything(), Config: config}))
	n := 0
	for ; n < len(x.queue) && (n < *explored.states || *explored.states == 0); n++ {
		p := x.queue[n]
		x.queue[n] = nil
		x.whole = n < *explored.whole
		for _, in := range x.inputs(p.state) {
			reached := x.step(p, in)
			if _, crashed := in.(Recover); crashed && reached != nil {
				x.recoveries++
			}
			if reached != nil {
				x.visit(reached)
			}
		}
		x.comesToRest(p)
		p.state, p.audit = State{}, audit{} // there are many places
	}
	of := "all"
	if n < len(x.queue) {
		of = fmt.Sprint("the first ", n, " of at least")
	}
	x.t.Logf("%s: %s %d states, %d transitions, %d of them recoveries; %d inputs refused; stacks up to %d, logs up to %d events",
		x.name, of, len(x.seen), x.transitions, x.recoveries, x.refused, x.deepest, x.longest)
	if x.recoveries != n {
		x.t.Errorf("%d states, %d recoveries", n, x.recoveries)
	}
}
