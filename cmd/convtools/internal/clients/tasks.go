package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/model/modeltest"
)

// finds returns a step in which an agent learns what concerns a question, finds an earlier
// conversation of the sample and reads the last event that it was shown.
func finds(http bool, a agent) func(context.Context, *lab) (string, error) {
	return with(a, http, func(ctx context.Context, d *desk) (string, error) {
		calls := []call{
			{"learn", map[string]any{"topic": "notes", "subjects": []any{"gauges"}}},
			{"conversation_grep", map[string]any{"pattern": "retry", "scopes": []any{"user"}}},
			{"conversation_read", map[string]any{}},
		}
		shown, err := d.ask(ctx, d.lab.workspace, "How did we settle retries of the gauge feed?", false, "Readings are retried.", func(answers []string) (call, bool, error) {
			var err error
			if len(answers) == 2 {
				calls[2].Arguments["id"], calls[2].Arguments["event"], err = lastEvent(answers[1])
			}
			return callAt(calls, len(answers)), len(answers) < len(calls), err
		})
		if err != nil {
			return "", err
		}
		s := seen{}
		for _, answer := range shown {
			s.Calls = append(s.Calls, seenCall{Text: withoutCurrent(answer)})
		}
		exchanges := slices.DeleteFunc(d.model.Exchanges(), func(e modeltest.Exchange) bool { return len(e.Tools) == 0 })
		note, err := d.checkOffered(ctx, exchanges[0])
		return note, errors.Join(err, s.checkCalls(ctx, d.lab, calls))
	})
}

func callAt(calls []call, i int) call {
	if i < len(calls) {
		return calls[i]
	}
	return call{}
}

// checkOffered compares the tools and instructions that a model was shown with ours. The
// note names the keywords that an agent leaves out, which is for it to decide.
func (d *desk) checkOffered(ctx context.Context, e modeltest.Exchange) (note string, err error) {
	var errs []error
	dropped := map[string]bool{}
	for _, tool := range d.lab.tools {
		offered, ok := d.tool(e.Tools, tool.Name)
		if !ok || offered.Description != tool.Description {
			errs = append(errs, fmt.Errorf("the model is not offered %s, or it is described otherwise: %q", tool.Name, offered.Description))
			continue
		}
		if err := checkParameters(tool.InputSchema, offered.Parameters, dropped); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", tool.Name, err))
		}
	}
	if len(dropped) > 0 {
		note = "only the descriptions tell the model: " + strings.Join(slices.Sorted(maps.Keys(dropped)), ", ")
	}
	c, instructions, err := mcpGoConnect(ctx, d.lab, plan{Era: legacy})
	if err != nil {
		return note, err
	}
	// Agents indent them, and so on.
	told := spaced(strings.Join(stringsIn(e.Body), "\n"))
	if !strings.Contains(strings.Replace(told, toldRecognized, toldUnknown, 1), spaced(instructions)) {
		errs = append(errs, errors.New("the model is not told the instructions of the server"))
	}
	return note, errors.Join(append(errs, c.Close())...)
}

func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// stringsIn returns all strings of a JSON text.
func stringsIn(body []byte) (all []string) {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return nil
	}
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case string:
			all = append(all, value)
		case []any:
			for _, inner := range value {
				walk(inner)
			}
		case map[string]any:
			for _, inner := range value {
				walk(inner)
			}
		}
	}
	walk(value)
	return all
}

// What the instructions say of the current conversation to a client that is not
// recognized, and to an agent that is.
const (
	toldUnknown = "Which conversation you are in is not known here, so it may turn up among the results: " +
		"do not take your own words for an earlier decision."
	toldRecognized = "The conversation you are in is left out of the results, with what belongs to it; " +
		"where it cannot be told which that is, a note says so."
)

// withoutCurrent returns an answer without the notes about the current conversation, which
// only a recognized agent gets.
func withoutCurrent(answer string) string {
	var lines []string
	for line := range strings.Lines(answer) {
		note := strings.TrimLeft(line, " ")
		if !strings.HasPrefix(note, "<note>Left out: the current conversation, ") && !strings.HasPrefix(note, "<note>Which conversation this is cannot be told, ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// checkParameters compares the parameters a model is shown with those of a schema: their
// names, types, descriptions and allowed values, and which are required. It adds the
// keywords that are not shown to dropped.
func checkParameters(want, got []byte, dropped map[string]bool) error {
	type parameters struct {
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required"`
	}
	var w, g parameters
	if err := errors.Join(json.Unmarshal(want, &w), json.Unmarshal(got, &g)); err != nil {
		return fmt.Errorf("reading the schemas: %w", err)
	}
	needed := cmp.FilterPath(func(path cmp.Path) bool {
		at, ok := path.Last().(cmp.MapIndex)
		return ok && slices.Contains([]string{"default", "minLength", "maxLength", "minimum", "maximum", "pattern", "format", "maxItems", "minItems", "uniqueItems"}, at.Key().String())
	}, cmp.Ignore())
	for name, parameter := range w.Properties {
		for keyword := range parameter {
			if _, ok := g.Properties[name][keyword]; !ok {
				dropped[keyword] = true
			}
		}
	}
	if diff := cmp.Diff(w, g, needed); diff != "" {
		return fmt.Errorf("the parameters are shown otherwise (-want +got):\n%s", diff)
	}
	return nil
}

// found is the conversations in an answer of conversation_grep, as a model would read it.
type found struct {
	Conversations []struct {
		ID     string `xml:"id,attr"`
		Events []struct {
			Number int `xml:"event,attr"`
		} `xml:"event"`
	} `xml:"conversation"`
}

// lastEvent returns the conversation and the number of the last event of an answer.
func lastEvent(envelope string) (id string, number int, err error) {
	var answer found
	if err := xml.Unmarshal([]byte(envelope), &answer); err != nil {
		return "", 0, fmt.Errorf("reading the answer of conversation_grep: %w\n%.500s", err, envelope)
	}
	for _, c := range answer.Conversations {
		for _, e := range c.Events {
			id, number = c.ID, e.Number
		}
	}
	if id == "" || number == 0 {
		return "", 0, fmt.Errorf("conversation_grep shows the model no event with its number in a conversation with an id:\n%.500s", envelope)
	}
	return id, number, nil
}

// What is said in the sessions of an agent.
const (
	told     = "Remember that the zanderfall gauge is read every seven minutes."
	agreed   = "The zanderfall gauge is read every seven minutes, noted."
	asked    = "How often did we say that the zanderfall gauge is read?"
	askAgain = "And once more, what was it with zanderfall?"
)

// remembers returns a step in which an agent finds what was said in one of its own
// sessions. It has three: in the first something is agreed on, in the second that is asked
// for, and the third goes on with the second one. In both the agent searches for a word that
// its own session has too, and must be shown the first session alone.
func remembers(a agent) func(context.Context, *lab) (string, error) {
	return with(a, false, func(ctx context.Context, d *desk) (string, error) {
		silent := func([]string) (call, bool, error) { return call{}, false, nil }
		if _, err := d.ask(ctx, d.project, told, false, agreed, silent); err != nil {
			return "", fmt.Errorf("telling: %w", err)
		}
		searching := func(answers []string) (call, bool, error) {
			switch len(answers) {
			case 0:
				return call{"conversation_grep", map[string]any{"pattern": "zanderfall"}}, true, nil
			case 1:
				id, number, err := lastEvent(answers[0])
				return call{"conversation_read", map[string]any{"id": id, "event": number}}, true, err
			}
			return call{}, false, nil
		}
		for i, question := range []string{asked, askAgain} {
			shown, err := d.ask(ctx, d.project, question, i > 0, "Every seven minutes, as was said.", searching)
			if err == nil {
				err = checkFound(shown)
			}
			if err != nil {
				return "", fmt.Errorf("session %d: %w", i+2, err)
			}
		}
		return "", nil
	})
}

// checkFound checks what the model was shown of a search and of a read.
func checkFound(shown []string) error {
	if len(shown) != 2 {
		return fmt.Errorf("the model was shown %d answers, want 2", len(shown))
	}
	var grep found
	if err := xml.Unmarshal([]byte(shown[0]), &grep); err != nil {
		return fmt.Errorf("reading the answer of conversation_grep: %w\n%.500s", err, shown[0])
	}
	// A program may begin to record its session after the call: then there is nothing to leave out.
	if len(grep.Conversations) != 1 || strings.Contains(shown[0], "cannot be told") {
		return fmt.Errorf("the model was not shown the first session alone, or its own one is not known:\n%.2000s", shown[0])
	}
	if !strings.Contains(shown[1], agreed) && !strings.Contains(shown[1], told) {
		return fmt.Errorf("the model did not read what was said:\n%.2000s", shown[1])
	}
	for _, question := range []string{asked, askAgain} {
		if strings.Contains(shown[0]+shown[1], question) {
			return fmt.Errorf("the model was shown its own session:\n%.2000s\n%.2000s", shown[0], shown[1])
		}
	}
	return nil
}

// searches returns a step in which an agent shows its model only the names of tools until the model searches for them. Each
// of these searches has to find conversation_recall first.
func searches(a agent) func(context.Context, *lab) (string, error) {
	queries := []string{"past sessions history", "memory", "previous conversations", "earlier decisions", "earlier sessions", "recall past decisions"}
	return with(a, false, func(ctx context.Context, d *desk) (string, error) {
		_, err := d.ask(ctx, d.project, "How did we settle retries?", false, "It was found.", func(answers []string) (call, bool, error) {
			if len(answers) == len(queries) {
				return call{}, false, nil
			}
			return call{"ToolSearch", map[string]any{"query": queries[len(answers)], "max_results": 5}}, true, nil
		})
		if err != nil {
			return "", err
		}
		exchanges := d.model.Exchanges()
		last := exchanges[len(exchanges)-1].Body
		for i, found := range regexp.MustCompile(`"type":"tool_result".*?"tool_name":"([^"]*)"`).FindAllSubmatch(last, -1) {
			if first := string(found[1]); first != a.server+"conversation_recall" {
				err = errors.Join(err, fmt.Errorf("a search for %q finds %s first", queries[i], first))
			}
		}
		if n := bytes.Count(last, []byte(`"type":"tool_result"`)); n != len(queries) {
			err = errors.Join(err, fmt.Errorf("the model was shown %d results, want %d", n, len(queries)))
		}
		return "", err
	})
}

// What is said to a conversation that an agent begins.
const (
	briefed  = "Which gauges report every seven minutes?"
	reminded = "And which of them lie on the north shore?"
)

// delegates returns a step in which an agent uses all five conv tools: it begins a
// conversation, sends it more, looks at it in the list and in its history, destroys it, and
// looks for it again.
func delegates(a agent) func(context.Context, *lab) (string, error) {
	return with(a, false, func(ctx context.Context, d *desk) (string, error) {
		shown, err := d.ask(ctx, d.project, "Have somebody else find out.", false, "Somebody else has found out.", conversation)
		if err != nil {
			return "", err
		}
		return "", checkConversation(shown)
	})
}

// conversation returns the calls, each with the id that the first one was answered with.
func conversation(answers []string) (call, bool, error) {
	var created conversed
	if len(answers) > 0 {
		if err := json.Unmarshal([]byte(answers[0]), &created); err != nil {
			return call{}, false, fmt.Errorf("reading the answer of conv.create: %w\n%.500s", err, answers[0])
		}
	}
	id := created.ConversationID
	calls := []call{
		{"conv.create", map[string]any{"user_instruction": briefed, "title": "Gauges", "mcp_allowlist": []any{}}},
		{"conv.send", map[string]any{"conversation_id": id, "text": reminded}},
		{"conv.list", map[string]any{}},
		{"conv.history", map[string]any{"conversation_id": id}},
		{"conv.destroy", map[string]any{"conversation_id": id}},
		{"conv.list", map[string]any{}},
	}
	return callAt(calls, len(answers)), len(answers) < len(calls), nil
}

// conversed is an answer of one of the conv tools.
type conversed struct {
	OK             bool   `json:"ok"`
	ConversationID string `json:"conversation_id"`
	Message        string `json:"last_assistant_message"`
	Status         string `json:"status"`
	Conversations  []struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	} `json:"conversations"`
	Entries []struct {
		Role string `json:"role"`
		Text string `json:"text"`
	} `json:"entries"`
}

// checkConversation checks what the model was shown.
func checkConversation(shown []string) error {
	answers := make([]conversed, 6)
	if len(shown) != len(answers) {
		return fmt.Errorf("the model was shown %d answers, want %d", len(shown), len(answers))
	}
	for i := range shown {
		if err := json.Unmarshal([]byte(shown[i]), &answers[i]); err != nil {
			return fmt.Errorf("reading the answer of a conv tool: %w\n%.500s", err, shown[i])
		}
	}
	created, sent, listed, history, destroyed, after := answers[0], answers[1], answers[2], answers[3], answers[4], answers[5]
	var errs []error
	for i, ok := range []bool{
		created.Status == "completed" && created.Message == "You asked: "+briefed,
		sent.ConversationID == created.ConversationID && sent.Message == "You asked: "+reminded,
		len(listed.Conversations) == 2 && listed.Conversations[1].ID == created.ConversationID && listed.Conversations[1].Title == "Gauges",
		len(history.Entries) == 4 && history.Entries[2].Text == reminded && history.Entries[3].Role == "assistant",
		destroyed.OK,
		len(after.Conversations) == 1,
	} {
		if !ok {
			errs = append(errs, fmt.Errorf("answer %d: %.1000s", i+1, shown[i]))
		}
	}
	return errors.Join(errs...)
}
