package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/model"
)

// A script is what models and people do, one line each time that a model is asked or a tool runs. Conversations are
// numbered in the order in which models ask for them; 0 is the root, x is no id, and a number that none has is an
// unknown id. A response is one or more of these, with " + " between them:
//
//	say TEXT                a message
//	think                   reasoning
//	create [TEXT]           conv.create with a user_instruction
//	send N [TEXT]           conv.send with a text
//	list, history N, destroy N
//	tool                    an ordinary call
//	invalid                 a call that the host could not prepare
//
// In place of a response:
//
//	fail                    the model has none
//	twice                   a response in which two calls have one id
//	!submit N TEXT          input from outside; then the next line
//	!create TEXT            a program outside calls conv.create in the place of the root's model; then the next line
//	!send N TEXT            the same with conv.send
//	!destroy N              the host destroys; then the next line, where the task goes on
//	!interrupt, !chain      the host interrupts the task, or the chain
//	!crash                  the process ends and the session recovers; then the next line
//
// Where an ordinary tool runs, a line that begins with ! is carried out first; any other is left for the model. After
// the last line, models say "end".
type script []string

// next takes a line; with hostOnly only one of the host's.
func (s *script) next(hostOnly bool) string {
	if len(*s) == 0 || hostOnly && !strings.HasPrefix((*s)[0], "!") {
		if hostOnly {
			return ""
		}
		return "say end"
	}
	line := (*s)[0]
	*s = (*s)[1:]
	return line
}

// words returns the verb of a part of a line, the conversation that it names, and the rest.
func words(part string) (verb, ref, rest string) {
	verb, rest, _ = strings.Cut(part, " ")
	switch verb {
	case "send", "history", "destroy", "!submit", "!send", "!destroy":
		ref, rest, _ = strings.Cut(rest, " ")
	}
	return verb, ref, rest
}

func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

func idOf(ref string) string {
	n, err := strconv.Atoi(ref)
	if err != nil {
		return "no UUID"
	}
	return id(n)
}

// label returns the number of a conversation.
func label(id string) string {
	if len(id) != 36 {
		return id
	}
	n, err := strconv.ParseInt(id[24:], 16, 64)
	if err != nil {
		return id
	}
	return strconv.Itoa(int(n))
}

// tokensPerSample is the usage of every response of a script.
const tokensPerSample = 10

var epoch = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// host carries out effects as a script says, and checks every step.
type host struct {
	t      checker
	state  State
	log    []Event
	now    time.Time
	made   int    // conversations that models have asked for
	budget Budget // of every submission
}

// checker is what tests of package testing and of rapid have in common.
type checker interface {
	Helper()
	Fatalf(format string, args ...any)
}

func start(t checker, config Config, context Context) *host {
	h := &host{t: t, now: epoch}
	h.step(Start{Session: "session", Root: id(0), Context: context, Config: config})
	return h
}

// step takes a step a second after the last one.
func (h *host) step(in Input) error {
	h.t.Helper()
	h.now = h.now.Add(time.Second)
	before := h.state
	next, events, err := Step(before, h.now, in)
	checkStep(h.t, before, h.now, in, h.log)
	if err != nil {
		if CodeOf(err) == "" {
			h.t.Fatalf("%T%+v: %v", in, in, err)
		}
		return err
	}
	h.state, h.log = next, append(h.log, events...)
	checkState(h.t, h.state, h.log)
	return nil
}

// run plays a script to its end.
func (h *host) run(s script) {
	h.t.Helper()
	for steps := 0; !h.state.Idle() || len(s) > 0 && strings.HasPrefix(s[0], "!"); steps++ {
		if steps > 10_000 {
			h.t.Fatalf("the script does not end")
		}
		h.turn(&s)
	}
}

// turn carries out one line.
func (h *host) turn(s *script) {
	h.t.Helper()
	work := h.state.Work()
	line := s.next(work == nil || work.Call != nil)
	switch {
	case work == nil || strings.HasPrefix(line, "!"):
		h.outside(line)
	case work.Call != nil:
		h.step(ToolDone{Task: work.Task, Call: work.Call.CallID, Content: "done", Success: true})
	default:
		h.step(h.reply(work.Task, line))
	}
}

// outside carries out a line of the host's.
func (h *host) outside(line string) {
	h.t.Helper()
	verb, ref, text := words(line)
	switch verb {
	case "!submit":
		h.step(Submit{Conversation: idOf(ref), Input: []Part{{Text: text}}, Budget: h.budget})
	case "!create":
		h.made++
		h.step(Invoke{Conversation: id(0), Call: asks("o"+strconv.Itoa(h.made), Create{ConversationID: id(h.made), UserInstruction: &text})})
	case "!send":
		h.step(Invoke{Conversation: id(0), Call: asks("o", Send{ConversationID: idOf(ref), Text: &text})})
	case "!destroy":
		h.step(Remove{Conversation: idOf(ref)})
	case "!interrupt":
		h.step(Interrupt{})
	case "!chain":
		h.step(Interrupt{Chain: true})
	case "!crash":
		h.crash()
	}
	if work := h.state.Work(); work != nil && work.Stop {
		h.step(canceled(work))
	}
}

// canceled returns the report of work that was stopped.
func canceled(w *Work) Input {
	if w.Call != nil {
		return ToolDone{Task: w.Task, Call: w.Call.CallID, Content: "canceled"}
	}
	return Response{Task: w.Task, Failure: Failure{Code: "canceled"}}
}

// crash continues from the log alone.
func (h *host) crash() {
	h.t.Helper()
	recovered, err := State{}.Apply(h.log)
	if err != nil {
		h.t.Fatalf("the log: %v", err)
	}
	h.state = recovered
	h.step(Recover{})
}

// reply returns the input that a line is.
func (h *host) reply(task TaskID, line string) Input {
	usage := Usage{InputTokens: tokensPerSample - 1, OutputTokens: 1}
	if line == "fail" {
		return Response{Task: task, Failure: Failure{Code: "overloaded", Message: "try later"}, Usage: usage}
	}
	if line == "twice" {
		line = "tool + tool"
		r := h.reply(task, line).(Response)
		r.Items[1].CallID = r.Items[0].CallID
		return r
	}
	r := Response{Task: task, Usage: usage}
	for _, part := range strings.Split(line, " + ") {
		verb, ref, rest := words(part)
		var text *string
		if rest != "" {
			text = &rest
		}
		var request any
		switch verb {
		case "say":
			r.Items = append(r.Items, says(rest))
			continue
		case "think":
			r.Items = append(r.Items, thinks())
			continue
		case "create":
			h.made++
			request = Create{ConversationID: id(h.made), UserInstruction: text}
		case "send":
			request = Send{ConversationID: idOf(ref), Text: text}
		case "list":
			request = List{}
		case "history":
			request = History{ConversationID: idOf(ref)}
		case "destroy":
			request = Destroy{ConversationID: idOf(ref)}
		case "tool":
			request = Ordinary{Tool: "tool"}
		case "invalid":
			request = Invalid{Tool: ConvCreate, Refusal: Refusal{Code: CodeUnreadableFile, Field: "base_instruction_file", Reason: "no such file"}}
		default:
			h.t.Fatalf("the script has %q", part)
		}
		r.Items = append(r.Items, asks("k"+strconv.Itoa(len(r.Items)+1), request))
	}
	return r
}

// What a model asks for that is no [Create], [Send], [History] or [Destroy].
type (
	List     struct{}
	Ordinary struct{ Tool string }
	Invalid  struct {
		Tool    string
		Refusal Refusal
	}
)

// asks returns a call with an id, as the host has prepared it.
func asks(id string, request any) Item {
	call := Item{Item: model.Item{Kind: ToolCall, CallID: id}}
	switch r := request.(type) {
	case Create:
		call.Name, call.Request.Create = ConvCreate, &r
	case Send:
		call.Name, call.Request.Send = ConvSend, &r
	case List:
		call.Name = ConvList
	case History:
		call.Name, call.Request.History = ConvHistory, &r
	case Destroy:
		call.Name, call.Request.Destroy = ConvDestroy, &r
	case Ordinary:
		call.Name = r.Tool
	case Invalid:
		call.Name, call.Request.Refused = r.Tool, &r.Refusal
	}
	call.Wire = strings.ReplaceAll(call.Name, ".", "_")
	return call
}

func says(text string) Item { return Item{Item: model.Text(AgentMessage, text)} }

func thinks() Item { return Item{Item: model.Item{Kind: Reasoning, Raw: "reasoning"}} }

// trace returns the events of a log that a person would follow, a line each.
func trace(log []Event) []string {
	var lines []string
	for _, e := range log {
		c := label(e.Conversation)
		switch e.Kind {
		case ConversationOpened:
			if e.Parent != "" {
				lines = append(lines, c+" opened by "+label(e.Parent))
			}
		case ConversationDestroyed:
			lines = append(lines, c+" destroyed")
		case PlanDropped:
			lines = append(lines, c+" dropped")
		case TaskStarted:
			if e.Continues != nil {
				lines = append(lines, c+" continues "+strings.Join(e.Continues.Calls, " "))
			} else {
				lines = append(lines, c+" starts")
			}
		case UserMessage, AgentMessage, Reasoning, ToolCall, ToolOutput:
			lines = append(lines, c+" "+described(e.Recorded()))
		case TaskComplete:
			lines = append(lines, c+" complete")
		case TaskFailed:
			lines = append(lines, c+" failed "+string(e.Failure.Code))
		case TurnAborted:
			lines = append(lines, c+" "+string(e.Reason))
		case CallsClosed:
			for _, output := range e.Outputs {
				lines = append(lines, c+" "+described(output))
			}
			lines = append(lines, c+" closed")
		case Recovered:
			lines = append(lines, strings.TrimSpace(c+" recovered"))
		}
	}
	return lines
}

func described(item Item) string {
	switch item.Kind {
	case UserMessage:
		if item.From != "" {
			return "hears " + label(item.From) + ": " + item.Text()
		}
		return "hears: " + item.Text()
	case AgentMessage:
		return "says: " + item.Text()
	case ToolCall:
		return "calls " + item.CallID + " " + item.Name
	case ToolOutput:
		return "gets " + item.CallID + " " + summary(item.Output)
	}
	return string(item.Kind)
}

// summary returns an output with what a test compares.
func summary(content string) string {
	var got struct {
		Code          string
		Status        string
		Conversation  string  `json:"conversation_id"`
		Message       *string `json:"last_assistant_message"`
		Conversations []struct {
			ID    string
			Count int `json:"message_count"`
			State string
		}
		Entries []struct {
			Role, Text string
		}
	}
	if json.Unmarshal([]byte(content), &got) != nil {
		return content
	}
	switch {
	case got.Message != nil:
		return fmt.Sprintf("%s %s: %s", label(got.Conversation), got.Status, *got.Message)
	case got.Code != "":
		return got.Code
	case got.Conversations != nil:
		var all []string
		for _, c := range got.Conversations {
			all = append(all, fmt.Sprintf("%s:%d:%s", label(c.ID), c.Count, c.State))
		}
		return strings.Join(all, " ")
	case got.Entries != nil:
		var all []string
		for _, e := range got.Entries {
			all = append(all, e.Role+":"+e.Text)
		}
		return strings.Join(all, "|")
	}
	return content
}

// play starts a session, submits "go" to its root, and returns the trace of a script.
func play(t *testing.T, config Config, lines ...string) []string {
	t.Helper()
	return trace(played(t, config, lines...).log)
}

func played(t *testing.T, config Config, lines ...string) *host {
	t.Helper()
	h := start(t, config, everything())
	h.run(append(script{"!submit 0 go"}, lines...))
	return h
}

// everything is a root that may use all that the host has.
func everything() Context {
	return Context{Capabilities: Capabilities{Internal: InternalTools{PlanTool: true, PatchTool: true, SearchTool: true, ShellTool: true, ConvTools: true}}}
}

func dedent(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// Invoke is a call of a program outside.
type Invoke struct {
	Conversation string
	Call         Item
}

func (in Invoke) decide(d *decision) *Refusal {
	return Submit{Conversation: in.Conversation, Call: &in.Call}.decide(d)
}
