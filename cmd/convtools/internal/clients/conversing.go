package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// What is said to a conversation that an agent begins, and the model of that.
const (
	briefed       = "Which gauges report every seven minutes?"
	reminded      = "And which of them lie on the north shore?"
	delegate      = "Have somebody else find out which gauges report every seven minutes."
	delegated     = "Somebody else has found out."
	scriptedModel = "[model.scripted]\napi = \"scripted\"\nscript = \"model.toml\"\n"
	scriptText    = "[[conversation]]\n[[conversation.response]]\ntext = \"You asked: ${input}\"\nrepeat = true\n"
)

// conversing returns a step in which an agent uses all five conv tools: it begins a conversation, sends it more, looks at
// it in the list and in its history, destroys it, and looks for it again.
func conversing(a agent) func(context.Context, *lab) ([]string, error) {
	return func(ctx context.Context, l *lab) (notes []string, err error) {
		h := &historian{agent: a, lab: l, model: &model{protocol: a.protocol}}
		if h.home, err = l.home(); err != nil {
			return nil, err
		}
		if h.project, err = l.project(); err != nil {
			return nil, err
		}
		for name, text := range map[string]string{"convtools.toml": scriptedModel, "model.toml": scriptText} {
			if err := writeFile(filepath.Join(h.home, ".config", "convtools", name), text); err != nil {
				return nil, err
			}
		}
		modelURL, closeModel, err := h.model.listen(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, closeModel()) }()
		if err := a.configure(h.home, modelURL, ""); err != nil {
			return nil, fmt.Errorf("configuring the agent: %w", err)
		}
		if err := a.install(ctx, l, h.home, h.project); err != nil {
			return nil, err
		}
		shown, err := h.session(ctx, "conv", delegate, false, delegated, h.conversation())
		if err != nil {
			return nil, err
		}
		return nil, checkConversation(shown)
	}
}

// conversation returns the calls, each with the id that the first one was answered with.
func (h *historian) conversation() next {
	return func(results []result) (call, bool, error) {
		var id string
		if len(results) > 0 {
			answer, err := parseConversation(h.unwrap(results[0].Text))
			if err != nil {
				return call{}, false, err
			}
			id = answer.ConversationID
		}
		calls := []call{
			{"conv.create", map[string]any{"user_instruction": briefed, "title": "Gauges", "mcp_allowlist": []any{}}},
			{"conv.send", map[string]any{"conversation_id": id, "text": reminded}},
			{"conv.list", map[string]any{}},
			{"conv.history", map[string]any{"conversation_id": id}},
			{"conv.destroy", map[string]any{"conversation_id": id}},
			{"conv.list", map[string]any{}},
		}
		if len(results) == len(calls) {
			return call{}, false, nil
		}
		return calls[len(results)], true, nil
	}
}

// conversed is what the conv tools answer.
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

func parseConversation(text string) (conversed, error) {
	var c conversed
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, fmt.Errorf("reading the answer of a conv tool: %w\n%.500s", err, text)
	}
	return c, nil
}

// checkConversation checks what the model was shown.
func checkConversation(shown []result) error {
	var answers []conversed
	for _, r := range shown {
		answer, err := parseConversation(r.Text)
		if err != nil {
			return err
		}
		answers = append(answers, answer)
	}
	if len(answers) != 6 {
		return fmt.Errorf("the model was shown %d answers, want 6", len(answers))
	}
	var errs []error
	demand := func(ok bool, what string, i int) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s: %.1000s", what, shown[i].Text))
		}
	}
	created, sent, listed, history, destroyed, after := answers[0], answers[1], answers[2], answers[3], answers[4], answers[5]
	demand(created.Status == "completed" && created.Message == "You asked: "+briefed, "conv.create", 0)
	demand(sent.ConversationID == created.ConversationID && sent.Message == "You asked: "+reminded, "conv.send", 1)
	demand(len(listed.Conversations) == 2 && listed.Conversations[1].ID == created.ConversationID && listed.Conversations[1].Title == "Gauges", "conv.list", 2)
	demand(len(history.Entries) == 4 && history.Entries[2].Text == reminded && history.Entries[3].Role == "assistant", "conv.history", 3)
	demand(destroyed.OK, "conv.destroy", 4)
	demand(len(after.Conversations) == 1, "conv.list after conv.destroy", 5)
	return errors.Join(errs...)
}

// offered returns a name as agents offer it: the interfaces of providers have no dots.
func offered(name string) string { return strings.ReplaceAll(name, ".", "_") }
