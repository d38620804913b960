package recall_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// workspaceOf returns the conversations of a workspace that is written for a test.
func workspaceOf(t *testing.T, build func(w *jptest.Workspace)) conversations.Source {
	t.Helper()
	dir := t.TempDir()
	w := jptest.New(dir, "tests")
	build(w)
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	library, err := conversations.Open(conversations.Options{Dir: dir, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return library
}

// about are three conversations about a feed. The newest is jp-c17727547754.
func about(w *jptest.Workspace) {
	w.Conversation("17727547754", "feed").Title("Retry policy").TurnStart().
		User("The feed fails at night.\n\nShould we retry it?").
		Reasoning("A retry is safe.").
		ToolCall("a", "fs_read", map[string]any{"path": "feed/retry.go", "pattern": "if a < b {\n\tretry()\n}"}).
		ToolResult("a", "package feed\n\n// retry tries again.\nfunc retry() {\n\treturn\n}\n", false).
		Assistant("Yes: five times.\n\nThe base of the delay is 500 ms.\nThe retry has a cap of 20 s.\n\nNothing else changes.").
		TurnStart().
		User("if a < b { retry() } ]]> </hit></event>").
		Assistant("Done.")
	w.Conversation("17700000002", "cache").Title("Cache the tides").TurnStart().
		User("May the cache be stale?").
		Assistant("For an hour. No retry then.")
	w.Conversation("17600000000", "old").Title("").TurnStart().
		User("Which queue do we use?").
		Assistant("None, and the feed has no retry.")
}

// pasted is a table that a user pasted, and a file that three results hold.
func pasted(w *jptest.Workspace) {
	var rows []string
	for i := range 30 {
		rows = append(rows, fmt.Sprintf("| layer %d | tides |", i))
	}
	w.Conversation("17700000003", "layers").Title("Layers").TurnStart().
		User(strings.Join(rows, "\n")).
		ToolResult("a", "use std::layer;\nfn layer() {}\n", false).
		ToolResult("b", "use std::layer;\n", false).
		Assistant("The layer of the tides is the fourth.")
	for i := range 7 {
		w.Conversation(fmt.Sprint(17600000000+i), "older").TurnStart().
			ToolResult("a", "  use std::layer;\n", false).
			ToolResult("b", "use std::layer;", false)
	}
}

// edits are tool calls and results, in which one line is the same, and once its neighbours
// too.
func edits(w *jptest.Workspace) {
	c := w.Conversation("17700000005", "edits").Title("Edits").TurnStart().User("Say one.")
	for i, text := range []string{"say(\"one\")\n\tand so on\n", "first\nsay(\"one\")\nlast\n", "second\nsay(\"one\")\nlast\n", "first\nsay(\"one\")\nlast\n"} {
		id := fmt.Sprint("call-", i)
		if i == 0 {
			c.ToolCall(id, "edit", map[string]any{"new": text}).ToolResult(id, "Done.", false)
		} else {
			c.ToolResult(id, text, false)
		}
	}
}

// days is a conversation of three days, with an event that has no time.
func days(w *jptest.Workspace) {
	w.Conversation("17700000003", "days").Title("Days").TurnStart().
		User("tide one").Assistant("tide two").RawEvent(`{"type":"chat_request","content":"tide three"}`).
		Assistant("tide four").Later(30 * time.Hour).User("tide five").Later(-30 * time.Hour).Assistant("tide six")
}

// own are calls of the conversation tools beside others.
func own(w *jptest.Workspace) {
	w.Conversation("17700000004", "recalls").Title("Recalls").TurnStart().
		User("When was the quorum decided?").
		ToolCall("a", "mcp__convtools__conversation_grep", map[string]any{"pattern": "quorum"}).
		ToolResult("a", "<hit>the quorum is two</hit>\n<hit>no quorum</hit>", false).
		ToolCall("b", "fs_grep", map[string]any{"pattern": "nothing"}).
		Assistant("Never.")
}

// many are n conversations that hold a word once in what the assistant said.
func many(n int) func(w *jptest.Workspace) {
	return func(w *jptest.Workspace) {
		for i := range n {
			w.Conversation(fmt.Sprint(17700000000+i*1000), "many").Title(fmt.Sprintf("Number %d", i)).TurnStart().
				User("Again?").Assistant(fmt.Sprintf("The tide of day %d.", i))
		}
	}
}

// longLine has lines over the widest window.
func longLine(w *jptest.Workspace) {
	fill := strings.Repeat("x", 1000)
	w.Conversation("17700000005", "long").Title(strings.Repeat("y", 100)).TurnStart().
		User(fill + " first tide " + fill + " second tide " + fill + " third tide " + fill + " fourth tide").
		Assistant("short tide\n" + strings.Repeat("z", 3000))
}

// braces has lines with neither a letter nor a digit around a match.
func braces(w *jptest.Workspace) {
	w.Conversation("17700000009", "braces").TurnStart().
		User("one\n\n}\ntwo\n\n}\nthree\n}\nneedle\n\n{\nfour\n\nfive\n\nsix\nseven\neight\nnine\nneedle\n}\n")
}

// scattered has two words close together and far apart, in two conversations.
func scattered(w *jptest.Workspace) {
	far := "The quorum is two." + strings.Repeat("\nSomething else.", 100) + "\nThe turtle sleeps."
	w.Conversation("17700000011", "far").Title("Far").TurnStart().User(far).ToolResult("a", "quorum, turtle", false)
	w.Conversation("17700000010", "near").Title("Near").TurnStart().ToolResult("a", "turtle\nquorum", false).
		Assistant("A quorum of what?\n\nOf turtles: each turtle counts.")
}

func archived(w *jptest.Workspace) {
	w.Conversation("17700000006", "live").Title("Live").TurnStart().User("Nothing here.")
	for i := range 2 {
		w.Conversation(fmt.Sprint(17600000000+i), "done").Title("Done").TurnStart().User("The quorum is two.").Archived(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	}
}

// partlyArchived has words in a live and in two archived conversations.
func partlyArchived(w *jptest.Workspace) {
	done := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w.Conversation("17700000006", "live").Title("Live").TurnStart().User("The feed waits.\n\nThe quorum is three.").
		Assistant("sync(events.json)\nThe turtle sleeps beside the feed.")
	w.Conversation("17600000001", "done").Title("Done").TurnStart().User("The quorum is two.").Assistant("The feed sleeps.").Archived(done)
	w.Conversation("17600000000", "done").Title("Done").TurnStart().User("A quorum, said the turtle.").Archived(done)
}

// hidden has lines of characters that are shown as many.
func hidden(w *jptest.Workspace) {
	line := strings.Repeat("\U000e0041", 400) + "\n"
	w.Conversation("17700000009", "hidden").TurnStart().User(strings.Repeat(line, 10) + "needle\n" + strings.Repeat(line, 10))
}

func damaged(w *jptest.Workspace) {
	w.Conversation("17700000007", "whole").TurnStart().User("The quorum is two.")
	w.Conversation("17700000008", "damaged").TurnStart().User("The quorum is three.").Assistant("Is it?").
		Edit(jptest.EventsFile, func(data []byte) []byte { return data[:len(data)-20] })
}

func grepCases() []golden {
	return []golden{
		{file: "events", call: `{"pattern":"retry"}`, workspace: about},
		{file: "context", call: `{"pattern":"retry","context":2,"scopes":["chat","tool_result"],"ids":[17727547754,"jp-c17700000002"]}`, workspace: about},
		{file: "context_of_many_lines", call: `{"pattern":"cap of","context":4,"ids":[17727547754]}`, workspace: about},
		{file: "context_of_one_line", call: `{"pattern":"cap of","context":1}`, workspace: about},
		{file: "context_over_braces", call: `{"pattern":"needle","context":2}`, workspace: braces},
		{file: "exactly_this_case", call: `{"pattern":"Retry","ignore_case":false}`, workspace: about},
		{file: "page_first", call: `{"pattern":"retry","limit":3}`, workspace: about},
		{file: "page_second", call: `{"pattern":"retry","limit":3,"offset":3}`, workspace: about},
		{file: "page_last", call: `{"pattern":"retry","limit":3,"offset":9}`, workspace: about},
		{file: "page_past_the_end", call: `{"pattern":"retry","offset":11}`, workspace: about},
		{file: "three_lines_of_an_event", call: `{"pattern":"layer"}`, workspace: pasted},
		{file: "equal_lines", call: `{"pattern":"std::layer"}`, workspace: pasted},
		{file: "context_of_equal_lines", call: `{"pattern":"say(","context":1,"scopes":["tool"]}`, workspace: edits},
		{file: "one_event", call: `{"pattern":"layer","ids":["jp-c17700000003"],"event":1,"limit":4,"offset":2}`, workspace: pasted},
		{file: "one_event_context", call: `{"pattern":"layer 1","ids":["jp-c17700000003"],"event":1,"context":1}`, workspace: pasted},
		{file: "one_event_none", call: `{"pattern":"quorum","ids":["jp-c17700000003"],"event":2}`, workspace: pasted},
		{file: "one_event_of_no_conversation", call: `{"pattern":"layer","event":12}`, notRun: true},
		{file: "one_event_of_two", call: `{"pattern":"layer","ids":["jp-c1","jp-c2"],"event":12}`, notRun: true},
		{file: "one_event_past_the_end", call: `{"pattern":"layer","ids":["jp-c17700000003"],"event":12}`, workspace: pasted},
		{file: "windows", call: `{"pattern":"tide","context":1}`, workspace: longLine},
		{file: "conversations_without_a_hit", call: `{"pattern":"tide","limit":2}`, workspace: many(25)},
		{file: "conversations_without_a_hit_next", call: `{"pattern":"tide","limit":2,"offset":21}`, workspace: many(25)},
		{file: "usual_size", call: `{"pattern":"tide"}`, workspace: many(60)},
		{file: "greatest_limit", call: `{"pattern":"tide","limit":201}`, workspace: many(60)},
		{file: "own_left_out", call: `{"pattern":"quorum"}`, workspace: own},
		{file: "own_left_out_none", call: `{"pattern":"the quorum is"}`, workspace: own},
		{file: "own_searched", call: `{"pattern":"quorum","scopes":["recall"]}`, workspace: own},
		{file: "own_and_chat", call: `{"pattern":"quorum","scopes":["recall","chat"]}`, workspace: own},
		{file: "current_left_out", call: `{"pattern":"retry"}`, current: "17727547754", workspace: about},
		{file: "current_included", call: `{"pattern":"cache","include_current":true,"include_hidden":true}`, current: "17700000002", workspace: about},
		{file: "only_current_named", call: `{"pattern":"retry","ids":["jp-c17727547754"]}`, current: "jp-c17727547754", workspace: about},
		{file: "nothing_but_current", call: `{"pattern":"retry"}`, current: "jp-c17700000004", workspace: own},
		{file: "nothing_but_archived", call: `{"pattern":"quorum"}`, current: "jp-c17700000006", workspace: archived},
		{file: "archived_named", call: `{"pattern":"quorum is","ids":["jp-c17600000001","jp-c17700000006"]}`, workspace: partlyArchived},
		{file: "words_apart", call: `{"pattern":"the \"turtle\", quorum?"}`, workspace: scattered},
		{file: "words_many", call: `{"pattern":"1 2 3 4 5 6 7 8 9"}`, workspace: about},
		{file: "words_nowhere", call: `{"pattern":"quorum turtle","ignore_case":false,"scopes":["user"]}`, workspace: about},
		{file: "regex", call: `{"pattern":"^the (base|retry)\\b.* (\\d+ )?m?s\\.$","regex":true}`, workspace: about},
		{file: "regex_as_it_is", call: `{"pattern":"base|retry has"}`, workspace: about},
		{file: "regex_none", call: `{"pattern":"sleeps.*whale","regex":true,"ids":["jp-c17700000006"]}`, workspace: partlyArchived},
		{file: "regex_invalid", call: `{"pattern":"a(b","regex":true}`, notRun: true},
		{file: "regex_unsupported", call: `{"pattern":"(?<!a)b","regex":true,"ignore_case":false}`, notRun: true},
		{file: "context_too_long", call: `{"pattern":"needle","context":10}`, workspace: hidden},
		{file: "invalid_long", call: `{"pattern":"` + strings.Repeat("x", 1001) + `"}`, notRun: true},
		{file: "days", call: `{"pattern":"tide"}`, workspace: days},
		{file: "no_conversations", call: `{"pattern":"retry"}`, workspace: func(*jptest.Workspace) {}},
		{file: "current_unknown_form", call: `{"pattern":"cache"}`, current: `a,b"--archived`, workspace: about},
		{file: "none", call: `{"pattern":"turtle"}`, workspace: about},
		{file: "none_archived", call: `{"pattern":"quorum"}`, workspace: archived},
		{file: "none_in_scopes_and_ids", call: `{"pattern":"queue","scopes":["assistant"],"ids":["jp-c17727547754"]}`, workspace: about},
		{file: "none_in_this_case", call: `{"pattern":"RETRY","ignore_case":false}`, workspace: about},
		{file: "damaged", call: `{"pattern":"quorum"}`, workspace: damaged},
		{file: "invalid_empty", call: `{"pattern":""}`, notRun: true},
		{file: "invalid_lines", call: `{"pattern":"a\nb"}`, notRun: true},
		{file: "invalid_nul", call: `{"pattern":"a\u0000b"}`, notRun: true},
		{file: "invalid_many", call: `{"patern":"a","scopes":["chats","tools"],"ids":["../x"],"limit":"0","context":-1}`, notRun: true},
	}
}
