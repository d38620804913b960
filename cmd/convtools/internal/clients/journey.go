package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Conversations and words of the sample workspace.
const (
	gaugeFeed      = "jp-c17737387251"
	gaugeFeedTitle = "Retry policy for the gauge feed"
)

// plan is what a client does in one session.
type plan struct {
	SDK     string   `json:"sdk,omitempty"`
	Era     string   `json:"era"`
	URL     string   `json:"url,omitempty"`
	Command []string `json:"command,omitempty"`

	Calls      []call     `json:"calls"`
	Template   string     `json:"template"`
	Completion completion `json:"completion"`
	Resource   string     `json:"resource"`
	Subjects   subjects   `json:"subjects"`
	// PromptArguments are by name; the empty name stands for all others.
	PromptArguments map[string]string `json:"promptArguments"`
}

type completion struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// The two eras of the protocol: sessions that begin with initialize, and
// requests that each say what they need.
const (
	legacy = "legacy"
	modern = "modern"
)

func newPlan(era string) plan {
	return plan{
		Era: era,
		// The last call is written as models really write arguments.
		Calls:           append(wellTyped(), call{"conversation_list", map[string]any{"limit": "2", "archived": "true"}}),
		Template:        "conversation://{id}",
		Completion:      completion{Name: "id", Value: "Retry policy"},
		Resource:        "conversation://" + gaugeFeed,
		Subjects:        planSubjects(),
		PromptArguments: map[string]string{"": "retry", "id": gaugeFeed, "conversation": gaugeFeed},
	}
}

// wellTyped returns calls of every tool whose arguments are of the right types.
func wellTyped() []call {
	return []call{
		{"conversation_list", map[string]any{"limit": 3}},
		{"conversation_grep", map[string]any{"pattern": "retry", "scopes": []any{"user", "assistant"}, "limit": 4}},
		{"conversation_read", map[string]any{"id": gaugeFeed, "turn": 1}},
		{"conversation_search", map[string]any{"query": "retry", "roles": []any{"user"}, "start_date": "2026-01-01", "limit": 2, "ids": true}},
		{"conversation_read", map[string]any{"id": gaugeFeed + ":16", "around": 1}},
		{"learn", map[string]any{"topic": "notes"}},
		{"learn", map[string]any{"topic": "Field notes", "subjects": []any{"stations/*", "keys"}}},
		{"learn", map[string]any{"topic": "notes", "subjects": "gauges"}},
		// Failures that the model has to be told, so that it can do better.
		{"conversation_read", map[string]any{"id": "jp-c1"}},
		{"conversation_grep", map[string]any{"patern": "retry"}},
		{"conversation_search", map[string]any{"end_date": "soon"}},
		{"learn", map[string]any{"topic": "notes", "subjects": "guages"}},
	}
}

// seen is what a client saw in one session.
type seen struct {
	Instructions string       `json:"instructions"`
	Tools        []seenTool   `json:"tools"`
	Calls        []seenCall   `json:"calls"`
	Templates    []string     `json:"templates"`
	Completion   []string     `json:"completion"`
	Resource     string       `json:"resource"`
	Subjects     seenSubjects `json:"subjects"`
	Prompts      []seenPrompt `json:"prompts"`
}

type seenTool struct {
	Name         string           `json:"name"`
	Description  string           `json:"description"`
	InputSchema  json.RawMessage  `json:"inputSchema"`
	OutputSchema json.RawMessage  `json:"outputSchema"`
	Annotations  map[string]*bool `json:"annotations"`
}

type seenCall struct {
	Text       string `json:"text"`
	IsError    bool   `json:"isError"`
	Structured bool   `json:"structured"`
}

type seenPrompt struct {
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments"`
	Text      string            `json:"text"`
}

// check returns everything that a client should have seen otherwise.
func (s seen) check(ctx context.Context, l *lab, p plan) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	// Clients cut what is longer, without a word.
	if n := len([]rune(s.Instructions)); n == 0 || n > 2048 {
		fail("the instructions have %d characters, want 1 to 2,048", n)
	}
	errs = append(errs, l.checkTools(s.Tools))
	if len(s.Calls) != len(p.Calls) {
		fail("%d calls were answered, want %d", len(s.Calls), len(p.Calls))
	} else {
		for i, c := range p.Calls {
			if err := s.Calls[i].check(ctx, l, c); err != nil {
				fail("call %d, %s: %w", i+1, c.Tool, err)
			}
		}
	}
	if !slices.Contains(s.Templates, p.Template) {
		fail("resource templates are %q, want %q among them", s.Templates, p.Template)
	}
	if !slices.Equal(s.Completion, []string{gaugeFeed}) {
		fail("%q completes to %q, want %q alone", p.Completion.Value, s.Completion, gaugeFeed)
	}
	if !strings.Contains(s.Resource, gaugeFeedTitle) {
		fail("%s does not show its title: %.200q", p.Resource, s.Resource)
	}
	if !slices.Contains(s.Templates, p.Subjects.Template) {
		fail("resource templates are %q, want %q among them", s.Templates, p.Subjects.Template)
	}
	errs = append(errs, s.Subjects.check())
	if len(s.Prompts) == 0 {
		fail("there are no prompts")
	}
	for _, prompt := range s.Prompts {
		for name, value := range prompt.Arguments {
			if !strings.Contains(prompt.Text, value) {
				fail("the prompt %s says nothing of %s=%s: %.200q", prompt.Name, name, value, prompt.Text)
			}
		}
	}
	return errors.Join(errs...)
}

// checkTools compares a list of tools with the generated one.
func (l *lab) checkTools(tools []seenTool) error {
	want, err := l.tools()
	if err != nil {
		return err
	}
	if len(tools) != len(want) {
		return fmt.Errorf("%d tools are listed, want %d", len(tools), len(want))
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for i, tool := range tools {
		// The order is part of it: lists that change spoil prompt caches.
		if tool.Name != want[i].Name {
			fail("tool %d is %s, want %s", i+1, tool.Name, want[i].Name)
			continue
		}
		if diff := cmp.Diff(want[i].Description, tool.Description); diff != "" {
			fail("%s is described otherwise (-want +got):\n%s", tool.Name, diff)
		}
		if n := len([]rune(tool.Description)); n > 2048 {
			fail("%s: the description has %d characters, clients show 2,048", tool.Name, n)
		}
		if diff, err := diffJSON(want[i].InputSchema, tool.InputSchema); err != nil {
			fail("%s: comparing schemas: %w", tool.Name, err)
		} else if diff != "" {
			fail("%s takes other arguments (-want +got):\n%s", tool.Name, diff)
		}
		if diff := cmp.Diff(want[i].Annotations, tool.Annotations); diff != "" {
			fail("%s has other annotations (-want +got):\n%s", tool.Name, diff)
		}
		if len(tool.OutputSchema) > 0 && string(tool.OutputSchema) != "null" {
			fail("%s declares an output schema, which makes clients hide the text", tool.Name)
		}
	}
	return errors.Join(errs...)
}

// check compares what a client was answered with what the command line says.
func (s seenCall) check(ctx context.Context, l *lab, c call) error {
	text, failed, err := l.answer(ctx, c)
	if err != nil {
		return err
	}
	var errs []error
	if s.IsError != failed {
		errs = append(errs, fmt.Errorf("isError is %v, want %v", s.IsError, failed))
	}
	if s.Structured {
		errs = append(errs, errors.New("there is structured content, which makes clients hide the text"))
	}
	if diff := cmp.Diff(text, s.Text); diff != "" {
		errs = append(errs, fmt.Errorf("the answer is not what JP is told (-want +got):\n%s", diff))
	}
	return errors.Join(errs...)
}

// diffJSON compares two JSON texts by what they say.
func diffJSON(want, got []byte) (string, error) {
	var w, g any
	if err := json.Unmarshal(want, &w); err != nil {
		return "", fmt.Errorf("reading %.60q: %w", want, err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		return "", fmt.Errorf("reading %.60q: %w", got, err)
	}
	return cmp.Diff(w, g), nil
}
