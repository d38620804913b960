package session

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// oracle plays a script by recursion: a call of conv.create or conv.send is a call of turn, and the stack of the
// session is that of Go. It knows nothing of states, events and inputs, and writes the lines of trace.
type oracle struct {
	config  Config
	script  script
	tokens  int64 // of every submission; 0 is no limit
	calls   int64
	lines   []string
	people  []*person
	made    int // conversations that models have asked for
	samples int // of the submission that is answered
	waiting []said
	chain   []*person // who waits for an answer
	pending []*person // targets of calls that have not started
}

type person struct {
	number    int
	parent    *person
	destroyed bool
	messages  []string
}

type said struct {
	to   *person
	text string
}

// answer is how a turn ended. With everyone, those who wait for it end too. unwind is the one who answers, where it is destroyed then.
type answer struct {
	status, message string
	used            spending
	unwind          *person
	everyone        bool
}

type spending struct{ tokens, calls int64 }

func (o *oracle) note(p *person, format string, args ...any) {
	o.lines = append(o.lines, strconv.Itoa(p.number)+" "+fmt.Sprintf(format, args...))
}

func (o *oracle) find(ref string) *person {
	for _, p := range o.people {
		if strconv.Itoa(p.number) == ref {
			return p
		}
	}
	return nil
}

func (o *oracle) play() []string {
	o.people = []*person{{number: 0}}
	for {
		if len(o.waiting) > 0 {
			next := o.waiting[0]
			o.waiting = o.waiting[1:]
			o.samples = 0
			o.turn(next.to, nil, next.text, spending{o.tokens, o.calls})
			continue
		}
		line := o.script.next(true)
		if line == "" {
			return o.lines
		}
		verb, ref, text := words(line)
		switch verb {
		case "!submit":
			o.submit(ref, text)
		case "!destroy":
			if p := o.find(ref); p != nil && p.number != 0 && !p.destroyed {
				o.destroy(p)
			}
		case "!crash":
			o.lines = append(o.lines, "recovered")
		}
	}
}

func (o *oracle) submit(ref, text string) {
	if p := o.find(ref); p != nil && !p.destroyed && text != "" {
		o.waiting = append(o.waiting, said{p, text})
	}
}

func (o *oracle) destroy(p *person) {
	for _, w := range o.waiting {
		if w.to == p {
			o.note(p, "dropped")
		}
	}
	o.waiting = slices.DeleteFunc(o.waiting, func(w said) bool { return w.to == p })
	o.note(p, "destroyed")
	p.destroyed = true
}

// outside carries out a line of the host's while p works, and returns how that ends p's turn, if it does.
func (o *oracle) outside(p *person, line string) *answer {
	verb, ref, text := words(line)
	switch verb {
	case "!submit":
		o.submit(ref, text)
	case "!crash":
		o.note(p, "recovered")
	case "!interrupt":
		return &answer{status: "interrupted"}
	case "!chain":
		return &answer{status: "interrupted", everyone: true}
	case "!destroy":
		victim := o.find(ref)
		switch {
		case victim == nil || victim.number == 0 || victim.destroyed:
		case victim == p:
			return &answer{status: "destroyed", unwind: p}
		case slices.Contains(o.chain, victim):
		default:
			o.destroy(victim)
		}
	}
	return nil
}

// turn answers an input of a person.
func (o *oracle) turn(p, from *person, text string, left spending) answer {
	var used spending
	message, interrupts, samples := "", 0, 0
	o.note(p, "starts")
	if from != nil {
		o.note(p, "hears %d: %s", from.number, text)
	} else {
		o.note(p, "hears: %s", text)
	}
	p.messages = append(p.messages, "user:"+text)

	aborted := func(a answer) answer {
		o.note(p, "interrupted")
		a.message, a.used = message, used
		if a.unwind == p {
			a.unwind = nil
			o.destroy(p)
		}
		return a
	}
	failed := func(code string) answer {
		o.note(p, "failed %s", code)
		return answer{status: "failed", message: message, used: used}
	}
	for {
		if most := o.config.MaxSamplesPerSubmission; samples >= o.config.MaxSamplesPerTurn || most > 0 && o.samples >= most {
			return failed("samples_exceeded")
		}
		if left.tokens != 0 && used.tokens >= left.tokens {
			return failed("budget_exceeded")
		}
		line := o.script.next(false)
		if strings.HasPrefix(line, "!") {
			if a := o.outside(p, line); a != nil {
				return aborted(*a)
			}
			continue
		}
		samples++
		o.samples++
		used.tokens += tokensPerSample
		switch line {
		case "fail":
			return failed("overloaded")
		case "twice":
			return failed("invalid_response")
		}

		type call struct {
			key, verb, ref, text string
			refused              string
			created              int
		}
		var calls []call
		for i, part := range strings.Split(line, " + ") {
			verb, ref, rest := words(part)
			switch verb {
			case "say":
				o.note(p, "says: %s", rest)
				p.messages = append(p.messages, "assistant:"+rest)
				message = rest
				continue
			case "think":
				o.note(p, "reasoning")
				continue
			}
			c := call{key: "k" + strconv.Itoa(i+1), verb: verb, ref: ref, text: rest}
			tool := map[string]string{"tool": "tool", "invalid": "conv.create"}[verb]
			if tool == "" {
				tool = "conv." + verb
			}
			if verb == "invalid" {
				c.refused = "unreadable_file"
			}
			if verb == "create" {
				o.made++
				c.created = o.made
			}
			if left.calls != 0 && used.calls >= left.calls {
				c.refused = "budget_exceeded"
			} else {
				used.calls++
			}
			o.note(p, "calls %s %s", c.key, tool)
			calls = append(calls, c)
		}
		if len(calls) == 0 {
			o.note(p, "complete")
			if message == "" {
				return answer{status: "no_message", used: used}
			}
			return answer{status: "completed", message: message, used: used}
		}

		// What does not interrupt, in order.
		for i, c := range calls {
			switch {
			case c.refused != "":
				o.note(p, "gets %s %s", c.key, c.refused)
			case c.verb == "tool":
				result := "done"
				for {
					line := o.script.next(true)
					if line == "" {
						break
					}
					if line == "!crash" {
						o.note(p, "recovered")
						result = "interrupted"
						break
					}
					if a := o.outside(p, line); a != nil {
						// What interrupts waits for the others, so it has no output either.
						for j, open := range calls {
							if j >= i || (open.verb == "create" || open.verb == "send") && open.refused == "" {
								o.note(p, "gets %s interrupted", open.key)
							}
						}
						return aborted(*a)
					}
				}
				o.note(p, "gets %s %s", c.key, result)
			case c.verb == "list":
				o.note(p, "gets %s %s", c.key, o.list(p))
			case c.verb == "history":
				target, refused := o.address(c.ref)
				if refused == "" {
					refused = strings.Join(target.messages, "|")
				}
				o.note(p, "gets %s %s", c.key, refused)
			case c.verb == "destroy":
				target, refused := o.address(c.ref)
				if refused == "" && target.number == 0 {
					refused = "root"
				}
				if refused == "" {
					refused = o.busy(p, target)
				}
				if refused == "" {
					o.destroy(target)
					refused = `{"ok":true}`
				}
				o.note(p, "gets %s %s", c.key, refused)
			}
		}

		// What interrupts, together.
		type running struct {
			call
			to     *person
			answer *answer
		}
		var batch []*running
		live := 0
		for _, q := range o.people {
			if !q.destroyed {
				live++
			}
		}
		for _, c := range calls {
			if c.verb != "create" && c.verb != "send" || c.refused != "" {
				continue
			}
			r := &running{call: c}
			refused := ""
			nth := len(batch) + 1
			switch {
			case len(o.chain)+1 > o.config.MaxInterruptChainDepth, nth > o.config.MaxInterruptsPerResponse, interrupts+nth > o.config.MaxInterruptsPerTurn:
				refused = "depth_exceeded"
			case left.tokens != 0 && used.tokens >= left.tokens:
				refused = "budget_exceeded"
			case c.text == "":
				refused = "invalid_arguments"
			case c.verb == "send":
				if r.to, refused = o.address(c.ref); refused == "" {
					refused = o.busy(p, r.to)
				}
			case live >= o.config.MaxConversations:
				refused = "conversations_exceeded"
			default:
				live++
				r.to = &person{number: c.created, parent: p}
			}
			if refused != "" {
				o.note(p, "gets %s %s", c.key, refused)
				continue
			}
			batch = append(batch, r)
		}
		if len(batch) == 0 {
			continue
		}
		interrupts += len(batch)
		o.note(p, "replaced")
		keys := []string{}
		for _, r := range batch {
			keys = append(keys, r.key)
			o.pending = append(o.pending, r.to)
			if r.verb == "create" {
				o.note(r.to, "opened by %d", p.number)
				o.people = append(o.people, r.to)
			}
		}
		o.chain = append(o.chain, p)
		var ended *answer
		for _, r := range batch {
			i := slices.Index(o.pending, r.to)
			o.pending = slices.Delete(o.pending, i, i+1)
			switch {
			case r.to.destroyed:
				r.answer = &answer{status: "destroyed"}
			case ended != nil:
				r.answer = &answer{status: "interrupted"}
			default:
				a := o.turn(r.to, p, r.text, remaining(left, used))
				used.tokens += a.used.tokens
				used.calls += a.used.calls
				r.answer = &a
				if a.everyone {
					ended = &answer{status: "interrupted", everyone: true}
				}
			}
		}
		o.chain = o.chain[:len(o.chain)-1]
		if ended == nil {
			o.note(p, "continues %s", strings.Join(keys, " "))
		}
		for _, r := range batch {
			o.note(p, "gets %s %d %s: %s", r.key, r.to.number, r.answer.status, r.answer.message)
		}
		if ended != nil {
			o.note(p, "closed")
			a := *ended
			a.message, a.used = message, used
			return a
		}
	}
}

func remaining(left, used spending) spending {
	return spending{remainder(left.tokens, used.tokens), remainder(left.calls, used.calls)}
}

func remainder(limit, used int64) int64 {
	switch {
	case limit == 0:
		return 0
	case used >= limit:
		return -1
	}
	return limit - used
}

func (o *oracle) address(ref string) (*person, string) {
	p := o.find(ref)
	switch {
	case ref == "x":
		return nil, "invalid_id"
	case p == nil:
		return nil, "not_found"
	case p.destroyed:
		return nil, "destroyed"
	}
	return p, ""
}

func (o *oracle) busy(p, target *person) string {
	switch {
	case target == p:
		return "self"
	case slices.Contains(o.chain, target):
		return "suspended_in_chain"
	}
	return ""
}

func (o *oracle) list(p *person) string {
	var all []string
	for _, q := range o.people {
		if q.destroyed {
			continue
		}
		state := "idle"
		switch {
		case q == p:
			state = "running"
		case slices.Contains(o.chain, q):
			state = "suspended"
		case slices.Contains(o.pending, q) || slices.ContainsFunc(o.waiting, func(w said) bool { return w.to == q }):
			state = "queued"
		}
		all = append(all, fmt.Sprintf("%d:%d:%s", q.number, len(q.messages), state))
	}
	return strings.Join(all, " ")
}

// A script has the same trace as its interpretation by recursion.
func TestOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		config := Config{
			MaxInterruptChainDepth:   rapid.IntRange(1, 4).Draw(t, "depth"),
			MaxInterruptsPerTurn:     rapid.IntRange(1, 5).Draw(t, "interrupts"),
			MaxInterruptsPerResponse: rapid.IntRange(1, 3).Draw(t, "parallel"),
			MaxSamplesPerTurn:        rapid.IntRange(1, 8).Draw(t, "samples"),
			MaxSamplesPerSubmission:  rapid.IntRange(0, 20).Draw(t, "samples of a submission"),
			MaxConversations:         rapid.IntRange(1, 6).Draw(t, "conversations"),
		}
		tokens := rapid.SampledFrom([]int64{0, 0, 30, 55, 100}).Draw(t, "tokens")
		calls := rapid.SampledFrom([]int64{0, 0, 2, 5}).Draw(t, "calls")
		lines := append(script{"!submit 0 go"}, rapid.SliceOfN(rapid.Custom(drawLine), 0, 25).Draw(t, "script")...)

		h := start(t, config, everything())
		h.budget = Budget{Tokens: tokens, Calls: calls}
		h.run(slices.Clone(lines))
		o := &oracle{config: config, script: lines, tokens: tokens, calls: calls}
		if diff := cmp.Diff(o.play(), trace(h.log)); diff != "" {
			t.Fatalf("trace (-oracle +session):\n%s", diff)
		}
	})
}

var depth = flag.Int("depth", 2, "how many lines the scripts of TestOracleExhaustive have")

// All short scripts have the same trace as their interpretation, beginning where two callers are suspended.
func TestOracleExhaustive(t *testing.T) {
	t.Parallel()
	alphabet := script{
		"say ", "say a", "create x", "create x + create y", "send 0 x", "send 1 x", "send 1 x + send 2 x", "tool + create x", "destroy 2",
		"fail", "!submit 1 x", "!destroy 1", "!interrupt", "!chain", "!crash",
	}
	config := Config{MaxInterruptChainDepth: 3, MaxInterruptsPerTurn: 4, MaxInterruptsPerResponse: 2, MaxSamplesPerTurn: 6, MaxConversations: 5}
	var explore func(lines script, left int)
	explore = func(lines script, left int) {
		h := start(t, config, everything())
		h.run(slices.Clone(lines))
		want := (&oracle{config: config, script: lines}).play()
		if got := trace(h.log); !slices.Equal(want, got) {
			t.Fatalf("%q: trace (-oracle +session):\n%s", lines, cmp.Diff(want, got))
		}
		for _, line := range alphabet {
			if left > 0 {
				explore(append(slices.Clip(lines), line), left-1)
			}
		}
	}
	explore(script{"!submit 0 go", "create x + create y", "create z"}, *depth)
}

func drawLine(t *rapid.T) string {
	ref := rapid.SampledFrom([]string{"0", "1", "1", "2", "2", "3", "4", "x"})
	if rapid.IntRange(0, 3).Draw(t, "outside") == 0 {
		line := rapid.SampledFrom([]string{"!submit", "!submit", "!destroy", "!interrupt", "!chain", "!crash", "!crash"}).Draw(t, "line")
		switch line {
		case "!submit":
			return line + " " + ref.Draw(t, "to") + " news"
		case "!destroy":
			return line + " " + ref.Draw(t, "of")
		}
		return line
	}
	if alone := rapid.IntRange(0, 20).Draw(t, "alone"); alone < 2 {
		return []string{"fail", "twice"}[alone]
	}
	part := rapid.Custom(func(t *rapid.T) string {
		verb := rapid.SampledFrom([]string{"say", "think", "create", "create", "create", "send", "send", "list", "history", "destroy", "tool", "invalid"}).Draw(t, "verb")
		switch verb {
		case "say":
			return "say " + rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "text")
		case "create":
			return strings.TrimSpace("create " + rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "text"))
		case "send":
			return strings.TrimSpace("send " + ref.Draw(t, "to") + " " + rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "text"))
		case "history", "destroy":
			return verb + " " + ref.Draw(t, "of")
		}
		return verb
	})
	return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), " + ")
}
