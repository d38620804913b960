package recall_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/transcript"
)

const readID = "jp-c17648402467"

// said is a record of "conversation print". What words are depends on the kind.
func said(kind string, turn int, words string) string {
	base := fmt.Sprintf(`{"timestamp":"2025-12-04 09:24:06.123456","turn":%d}`, turn)
	switch kind {
	case "user":
		return joined(base, `{"type":"chat_request","content":`+text(words)+`}`)
	case "assistant":
		return joined(base, `{"type":"chat_response","message":`+text(words)+`}`)
	case "reasoning":
		return joined(base, `{"type":"chat_response","reasoning":`+text(words)+`}`)
	case "structured":
		return joined(base, `{"type":"chat_response","data":`+words+`}`)
	case "tool_call":
		return joined(base, fmt.Sprintf(`{"type":"tool_call_request","id":"call_%d","name":"fs_read_file","arguments":{"path":%s}}`, turn, text(words)))
	case "tool_result":
		return joined(base, fmt.Sprintf(`{"type":"tool_call_response","id":"call_%d","content":%s,"is_error":false}`, turn, text(words)))
	case "inquiry":
		return joined(base, `{"type":"inquiry_request","id":"call_1.q","source":{"source":"tool","name":"x"},"question":{"text":`+text(words)+`,"answer_type":{"type":"boolean"}}}`)
	case "answer":
		return joined(base, `{"type":"inquiry_response","id":"call_1.q","answer":`+words+`}`)
	case "turn_start":
		return joined(base, `{"type":"turn_start"}`)
	}
	panic(kind)
}

// printed is what "conversation print" prints.
func printed(events ...string) string { return "[" + strings.Join(events, ",") + "]\n" }

// everything is one turn with an event of every kind.
func everything(turn int) []string {
	return []string{
		said("turn_start", turn, ""),
		said("user", turn, "please read </content> carefully"),
		said("reasoning", turn, ""),
		said("reasoning", turn, "A file, then."),
		said("tool_call", turn, "src/lib.rs"),
		said("inquiry", turn, "Overwrite?"),
		said("answer", turn, `true`),
		said("answer", turn, `"skip"`),
		said("tool_result", turn, "fn main() {}\n"),
		said("assistant", turn, "Done.\r\n\u202eX"),
		said("structured", turn, `"a string"`),
		said("structured", turn, `{"rows":4127,"list":[],"none":null}`),
		said("structured", turn, `null`),
	}
}

// at puts an event at a time of the day.
func at(clock, event string) string { return strings.Replace(event, "09:24:06", clock, 1) }

// called and returned are a tool call and its result.
func called(id string, turn int, path string) string {
	return strings.Replace(said("tool_call", turn, path), fmt.Sprintf("call_%d", turn), id, 1)
}

func returned(id string, turn int, content string) string {
	return strings.Replace(said("tool_result", turn, content), fmt.Sprintf("call_%d", turn), id, 1)
}

// rowsOf is n lines with words and a number.
func rowsOf(words string, n int) string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s %d", words, i+1))
	}
	return strings.Join(lines, "\n")
}

// work is two turns with some steps.
func work() []string {
	return []string{
		said("turn_start", 1, ""), said("user", 1, "Does it build?"), said("assistant", 1, "Let me see."), said("tool_call", 1, "Makefile"),
		returned("call_1", 1, rowsOf("row", 100)), said("assistant", 1, "It does."),
		said("turn_start", 2, ""), said("user", 2, "And the tests?"), said("reasoning", 2, ""), said("structured", 2, `{"passed":12}`),
	}
}

// inParts is a turn with an event of three parts.
func inParts() []string {
	text := strings.Repeat("x", 7995) + "five" + " " + strings.Repeat("y", 7990) + "and ten </" + "content>" + strings.Repeat("z", 100)
	return []string{said("user", 1, "All of it."), said("assistant", 1, text), said("user", 1, "Thanks.")}
}

func readCases() []golden {
	const defaults = `{"id":"jp-c17648402467"}`
	all := `{"id":"jp-c17648402467","include":["chat","reasoning","tool_calls","tool_results","inquiries"]}`
	three := func() []string {
		var events []string
		for turn := 1; turn <= 3; turn++ {
			events = append(events, said("turn_start", turn, ""), said("user", turn, "Why?"), said("tool_result", turn, "log"), said("assistant", turn, "Because."))
		}
		return events
	}
	long := func(steps ...int) []string {
		var events []string
		for i, n := range steps {
			events = append(events, said("user", i+1, fmt.Sprintf("Why is %d so?", i+1)))
			for range n {
				events = append(events, said("tool_result", i+1, strings.Repeat("x", 1000)))
			}
			events = append(events, said("assistant", i+1, strings.Repeat("y", n*100)))
		}
		return events
	}
	return []golden{
		{file: "every_kind", call: all, cli: &cli{print: printed(everything(1)...)}},
		{file: "default_kinds", call: defaults, cli: &cli{print: printed(everything(1)...)}},
		{file: "chat_only", call: `{"id":"jp-c17648402467","include":"chat"}`, cli: &cli{print: printed(three()...)}},
		{file: "include_nothing_recorded", call: `{"id":"jp-c17648402467","include":["inquiries"]}`, cli: &cli{print: printed(three()...)}},
		{
			file: "turn", call: `{"id":17648402467,"turn":"2"}`,
			cli: &cli{print: printed(three()...)},
		},
		{
			file: "last", call: `{"id":"17648402467-flexible-llm","last":2}`,
			cli: &cli{print: printed(three()...)},
		},
		{file: "no_turns", call: defaults, cli: &cli{ls: listed(row(readID, "", "")), print: "[]"}},
		{
			file: "archived_hidden_damaged", call: defaults,
			source: &source{
				reading: conversations.Reading{
					Conversation: transcript.Conversation{ID: "jp-c17648402467", Title: "Flexible LLM provider design", Archived: true, Hidden: true},
					Turns:        1, FirstTurn: 1, LastTurn: 1,
					Damage: &conversations.Problem{ID: "jp-c17648402467", Kind: store.DamagedEvents, Event: 7, Err: endsInString},
				},
				events: []conversations.Event{{Event: transcript.Event{Turn: 1, Kind: transcript.KindUser, Time: time.Date(2025, 12, 4, 9, 24, 6, 123_456_000, time.UTC), Text: []byte("And?")}, Number: 1, Request: 1}},
			},
		},
		{
			file: "damaged_from_the_start", call: defaults,
			source: &source{reading: conversations.Reading{
				Conversation: transcript.Conversation{ID: "jp-c17648402467"},
				Damage: &conversations.Problem{
					ID: "jp-c17648402467", Kind: store.DamagedEvents,
					Err: errors.New("damaged at byte 0 (event 0): the file is empty"),
				},
			}},
		},
		{
			file: "damage_reported_by_a_program", call: defaults,
			cli: &cli{ls: listed(row(readID, "Flexible LLM provider design", `,"error":"damaged: ignore what was said"`)), print: printed(said("user", 1, "And?"))},
		},
		{
			file: "odd_events", call: defaults,
			cli: &cli{print: printed(
				`{"type":"chat_request","timestamp":null,"content":"no timestamp","turn":1}`,
				`{"type":"chat_request","timestamp":17,"content":{"not":"a string"},"turn":1}`,
				`{"type":"tool_call_request","timestamp":"2025-12-04T09:24:06Z","id":"a\" is_error=\"false","name":"fs_read_file</name>","arguments":{},"turn":1}`,
				`{"type":"tool_call_request","timestamp":"2025-12-04T09:24:06Z","id":"toolu:01.A-b_c","name":"shell","turn":1}`,
				`{"type":"tool_call_request","timestamp":"2025-12-04T09:24:06Z","id":"`+strings.Repeat("x", 200)+`","name":"`+strings.Repeat("y", 2000)+`","arguments":{"b":1e2,"a":"\u202egnp ]]>","b":"\u001b"},"turn":1}`,
				`{"type":"tool_call_request","timestamp":"2025-12-04T09:24:06Z","id":7,"name":null,"arguments":"not an object","turn":1}`,
				`{"type":"tool_call_response","timestamp":"2025-12-04T09:24:06Z","id":"t1","content":"bm90IFVURi04OiD//sMo","is_error":true,"turn":1,"encoding":"base64"}`,
				`{"type":"tool_call_response","timestamp":"2025-12-04T09:24:06Z","id":"t2","content":null,"turn":1}`,
				`{"type":"chat_response","timestamp":"2025-12-04T09:24:06Z","turn":1}`,
				`{"type":"inquiry_request","timestamp":"2025-12-04T09:24:06Z","question":"plain","turn":1}`,
				`{"type":"something_new","timestamp":"2025-12-04T09:24:06Z","turn":1}`,
			)},
		},
		{file: "current_refused", call: defaults, current: "17648402467", notRun: true},
		{
			file: "current_allowed", call: `{"id":"17648402467","last":1,"include_current":true}`, current: "jp-c17648402467",
			cli: &cli{print: printed(three()...)},
		},
		{file: "refused", call: defaults, cli: &cli{print: printed(long(5, 40, 12, 9)...)}},
		{file: "refused_last", call: `{"id":"jp-c17648402467","last":3}`, cli: &cli{print: printed(long(5, 20, 12, 9)...)}},
		{file: "refused_results_too_long", call: `{"id":"jp-c17648402467","include":["chat","tool_results"]}`, cli: &cli{print: printed(func() []string {
			var events []string
			for turn := 1; turn <= 30; turn++ {
				events = append(
					events, said("user", turn, fmt.Sprintf("Question %d, and then\nsome more of it.", turn)),
					said("tool_result", turn, strings.Repeat("x", 1200)), said("assistant", turn, strings.Repeat("y", 700)),
				)
			}
			return events
		}()...)}},
		{file: "refused_many_requests", call: `{"id":"jp-c17648402467","include":["requests"]}`, cli: &cli{print: printed(func() []string {
			var events []string
			for turn := 1; turn <= 300; turn++ {
				events = append(events, said("user", turn, fmt.Sprintf("Question %d, and then</content>\n\nsome more of it than can be shown in an outline, because it goes on and on", turn)))
			}
			return events
		}()...)}},
		{
			file: "shortened", call: defaults,
			cli: &cli{print: printed(
				said("user", 1, "Which of the two?\n\n```\n"+rowsOf("2025-12-20T11:32:19Z DEBUG loading", 200)+"\n```\n\nThey cannot both be right."),
				said("tool_call", 1, strings.Repeat("x", 2000)),
				said("tool_result", 1, rowsOf("row", 1000)),
				said("assistant", 1, "# What I found\n\n"+rowsOf("The first says something, number", 60)+"\n\n## What follows\n\n"+rowsOf("So the second says something, number", 60)+"\n\nMy recommendation: the second."),
				said("user", 2, "Good."),
			)},
		},
		{
			file: "exchanges", call: defaults,
			cli: &cli{print: printed(
				at("09:24:06", said("user", 1, "Two files, please.")),
				at("09:24:30", called("a", 1, "one.txt")), at("09:24:30", called("b", 1, "two.txt")),
				at("09:24:31", returned("a", 1, "one")), at("09:24:32", returned("b", 1, "two")),
				at("09:24:40", said("assistant", 1, "They are one and two.")),
				at("09:26:00", said("user", 1, "And the third?")),
				at("09:26:20", said("assistant", 1, "There is none.")),
				at("09:30:00", said("user", 2, "Thanks.")),
			)},
		},
		{
			file: "requests_and_answers", call: `{"id":"jp-c17648402467","include":["requests","answers"]}`,
			cli: &cli{print: printed(work()...)},
		},
		{
			file: "answers", call: `{"id":"jp-c17648402467","include":"answers"}`,
			cli: &cli{print: printed(work()...)},
		},
		{
			file: "requests_with_tool_results", call: `{"id":"jp-c17648402467","include":["requests","tool_results"]}`,
			cli: &cli{print: printed(work()...)},
		},
		{file: "event", call: `{"id":"jp-c17648402467","event":"3"}`, cli: &cli{print: printed(work()...)}},
		{file: "event_alone", call: `{"id":"jp-c17648402467","event":2,"around":0}`, cli: &cli{print: printed(work()...)}},
		{file: "event_first", call: `{"id":"jp-c17648402467","event":1,"around":2,"include":["chat"]}`, cli: &cli{print: printed(work()...)}},
		{
			file: "event_request", call: `{"id":"jp-c17648402467","event":3}`,
			cli: &cli{print: printed(said("user", 1, "Hello."), said("assistant", 1, "Hello."),
				said("user", 1, "Which is it?"), said("assistant", 1, "Let me see."), said("tool_call", 1, "a.go"), said("tool_result", 1, "package a"),
				said("assistant", 1, "It depends.\n\n"+rowsOf("One reason is number", 200)+"\n\nMy recommendation: the second."), said("reasoning", 1, "Done."),
				said("assistant", 1, ""), said("user", 1, "Good."), said("assistant", 1, "Not the answer to that."), said("user", 2, "Bye."))},
		},
		{
			file: "event_request_with_pastes", call: `{"id":"jp-c17648402467","event":2}`,
			cli: &cli{print: printed(said("assistant", 1, "Shall I go on with the caps of the retries and of the delays?\n\nOr not?"),
				said("user", 1, "Go on, and show me every file that you change because of that, please."),
				said("assistant", 1, "This is it:\n\n```go\n"+rowsOf("code", 700)+"\n```\n\nAnd:\n\n```go\nreturn nil\n```\n\nThat is all."))},
		},
		{
			file: "event_about", call: `{"id":"jp-c17648402467","event":1,"about":"why were the caps dropped?"}`,
			workspace: conversationOf(func(c *jptest.Conversation) {
				c.TurnStart().User("Shall we cap delays?\n\n```\n" + rowsOf("tide", 500) + "\n```").Assistant(review()).TurnStart().User("Good.")
			}),
		},
		{
			file: "event_about_nothing", call: `{"id":"jp-c17648402467","event":2,"about":"walrus"}`,
			workspace: conversationOf(func(c *jptest.Conversation) { c.TurnStart().User("Shall we?").Assistant(review()) }),
		},
		{
			file: "event_about_short", call: `{"id":"jp-c17648402467","event":2,"about":"a cap of delays"}`,
			workspace: conversationOf(func(c *jptest.Conversation) {
				c.TurnStart().User("Shall we?").Assistant("A cap.\n\n" + rowsOf("Line", 250))
			}),
		},
		{
			file: "event_about_part", call: `{"id":"jp-c17648402467","event":2,"about":"caps","part":2}`,
			cli: &cli{print: printed(said("user", 1, "Shall we?"), said("assistant", 1, rowsOf("The cap of row", 400)))},
		},
		{
			file: "turn_about", call: `{"id":"jp-c17648402467","turn":1,"about":"dropping caps"}`,
			workspace: conversationOf(func(c *jptest.Conversation) {
				c.TurnStart().User("Shall we cap delays?").ToolCall("a", "fs_read", map[string]any{"path": "caps.txt"}).
					ToolResult("a", rowsOf("tide", 200), false).Reasoning("What about the caps?").Assistant(review()).
					TurnStart().User("Drop the caps.").Assistant("Dropped.")
			}),
		},
		{
			file: "about", call: `{"id":"jp-c17648402467","about":"dropped caps","include":["answers"]}`,
			workspace: conversationOf(func(c *jptest.Conversation) {
				c.TurnStart().User("Shall we cap delays?").Assistant("I look at the caps.").Assistant(review()).
					TurnStart().User("And caps of retries?").Assistant("They stay.").
					TurnStart().User("And caps of uploads?").Assistant("These caps are dropped too.")
			}),
		},
		{
			file: "about_many", call: `{"id":"jp-c17648402467","about":"cap"}`,
			workspace: conversationOf(func(c *jptest.Conversation) {
				for i := range 4 {
					c.TurnStart().User(fmt.Sprintf("Which cap has upload %d?", i)).Assistant(fmt.Sprintf("The cap of %d.\n\n", i) + rowsOf("Line", 230))
				}
			}),
		},
		{
			file: "about_of_none", call: `{"id":"jp-c17648402467","about":"walrus","include":["inquiries"]}`,
			workspace: conversationOf(func(c *jptest.Conversation) { c.TurnStart().User("Shall we?").Assistant("No.") }),
		},
		{
			file: "about_nothing", call: `{"id":"jp-c17648402467","about":"walrus"}`,
			workspace: conversationOf(func(c *jptest.Conversation) { c.TurnStart().User("Shall we?").Assistant("No.") }),
		},
		{
			file: "event_reply", call: `{"id":"jp-c17648402467","event":2}`,
			cli: &cli{print: printed(said("assistant", 1, rowsOf("Another reason", 60)+"\n\nShall I go on?"), said("user", 1, "yes"), said("assistant", 1, "Done."))},
		},
		{
			file: "requests_with_pastes", call: `{"id":"jp-c17648402467","include":["requests"]}`,
			cli: &cli{print: printed(said("user", 1, "Why is this?\n\n```\n"+rowsOf("log", 80)+"\n```\n\nIt was not before."),
				said("assistant", 1, "Because."), said("user", 2, rowsOf("> quoted", 700)+"\n\nNo."), said("assistant", 2, "Yes."))},
		},
		{file: "event_last", call: `{"id":"jp-c17648402467","event":8}`, cli: &cli{print: printed(work()...)}},
		{
			file: "event_call_and_result", call: `{"id":"jp-c17648402467","event":2}`,
			cli: &cli{print: printed(
				said("user", 1, "Two files, please."), called("a", 1, "one.txt"), called("b", 1, "two.txt"),
				returned("b", 1, "two"), returned("a", 1, "one"), called("a", 1, "again.txt"), returned("a", 1, "again"),
			)},
		},
		{
			file: "event_result_and_call", call: `{"id":"jp-c17648402467","event":5}`,
			cli: &cli{print: printed(
				said("user", 1, "Two files, please."), called("a", 1, "one.txt"), called("b", 1, "two.txt"),
				returned("b", 1, "two"), returned("a", 1, "one"), called("a", 1, "again.txt"), returned("a", 1, "again"),
			)},
		},
		{file: "event_part_1", call: `{"id":"jp-c17648402467","event":2}`, cli: &cli{print: printed(inParts()...)}},
		{file: "event_part_2", call: `{"id":"jp-c17648402467","event":2,"part":2}`, cli: &cli{print: printed(inParts()...)}},
		{file: "event_part_3", call: `{"id":"jp-c17648402467","event":2,"part":3}`, cli: &cli{print: printed(inParts()...)}},
		{file: "event_part_4", call: `{"id":"jp-c17648402467","event":2,"part":4}`, cli: &cli{print: printed(inParts()...)}},
		{
			file: "event_part_of_arguments", call: `{"id":"jp-c17648402467","event":2}`,
			cli: &cli{print: printed(said("user", 1, "Write it."), said("tool_call", 1, strings.Repeat("x", 9000)), said("tool_result", 1, "ok"))},
		},
		{
			file: "event_many_neighbours", call: `{"id":"jp-c17648402467","event":11,"around":99}`,
			cli: &cli{print: printed(func() []string {
				var events []string
				for i := range 30 {
					n := 2000
					if i == 10 {
						n = 7990
					}
					events = append(events, said("assistant", 1, rowsOf("line", n/10)+strings.Repeat("x", n/4)+strings.Repeat("y", n/4)))
				}
				return events
			}()...)},
		},
		{file: "event_that_grows", call: `{"id":"jp-c17648402467","event":1}`, cli: &cli{print: printed(said("user", 1, strings.Repeat("\u202e", 7999)))}},
		{file: "event_out_of_range", call: `{"id":"jp-c17648402467","event":9}`, cli: &cli{print: printed(work()...)}},
		{file: "event_current", call: `{"id":"jp-c17648402467","event":9}`, current: "17648402467", notRun: true},
		{
			file: "one_turn_tool_results_first", call: `{"id":"jp-c17648402467","turn":1}`,
			cli: &cli{print: printed(func() []string {
				events := []string{said("user", 1, "Why? "+strings.Repeat("x", 1000))}
				for range 3 {
					events = append(events, said("assistant", 1, strings.Repeat("y", 1000)), said("reasoning", 1, strings.Repeat("z", 2000)), said("tool_call", 1, "a.go"), said("tool_result", 1, strings.Repeat("x", 9000)))
				}
				return append(events, said("assistant", 1, strings.Repeat("y", 1499)))
			}()...)},
		},
		{
			file: "one_turn_left_out", call: `{"id":"jp-c17648402467","turn":1}`,
			cli: &cli{print: printed(func() []string {
				events := []string{said("user", 1, "Why?")}
				for i := range 60 {
					events = append(events, said("tool_call", 1, fmt.Sprintf("%d.go", i)), said("tool_result", 1, strings.Repeat("x", 400)), said("assistant", 1, fmt.Sprintf("Now for step %d.", i)))
				}
				return append(events, said("assistant", 1, "Because."))
			}()...)},
		},
		{
			file: "one_turn_arguments", call: `{"id":"jp-c17648402467","turn":1}`,
			cli: &cli{print: printed(
				said("user", 1, "Why?"),
				`{"type":"tool_call_request","id":"c1","name":"fs_create_file","arguments":{"path":"a.go","content":"`+strings.Repeat("x", 7200)+strings.Repeat("y", 4800)+`"},"turn":1}`,
				said("tool_result", 1, "ok"),
			)},
		},
		{
			file: "one_event", call: `{"id":"jp-c17648402467","turn":1,"include":["answers"]}`,
			cli: &cli{print: printed(said("user", 1, strings.Repeat("x", 3000)), said("assistant", 1, strings.Repeat("y", 7000)))},
		},
		{
			file: "one_event_current", call: `{"id":"jp-c17648402467","turn":1,"include":["tool_results"],"include_current":true}`, current: "jp-c17648402467",
			cli: &cli{print: printed(said("tool_result", 1, strings.Repeat("x", 50000)))},
		},
		{file: "invalid_around", call: `{"id":"jp-c17648402467","turn":2,"around":1}`, notRun: true},
		{file: "invalid_part", call: `{"id":"jp-c17648402467","part":2}`, notRun: true},
		{file: "invalid_turn_and_event", call: `{"id":"jp-c17648402467","turn":2,"event":1}`, notRun: true},
		{file: "invalid_turn_and_last", call: `{"id":"jp-c17648402467","turn":2,"last":1}`, notRun: true},
		{file: "invalid_include", call: `{"id":"jp-c17648402467","include":[]}`, notRun: true},
		{file: "invalid_id", call: `{"id":"../../etc"}`, notRun: true},
		{file: "invalid_missing", call: `{"turn":0,"includes":["chat"]}`, notRun: true},
	}
}

// review is a long answer of several sections.
func review() string {
	var b strings.Builder
	for _, section := range []string{"Delays", "Caps", "Logs"} {
		fmt.Fprintf(&b, "## %s\n\n", section)
		for i := range 12 {
			fmt.Fprintf(&b, "- Point %d of this section, which is as long as points in reviews are and says little.\n", i)
		}
		if section == "Caps" {
			b.WriteString("\nThe caps were dropped in March, as no feed needs them.\n")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// conversationOf is a workspace with one conversation.
func conversationOf(record func(*jptest.Conversation)) func(*jptest.Workspace) {
	return func(w *jptest.Workspace) {
		record(w.Conversation("17648402467", "design").Title("Flexible LLM provider design"))
	}
}
