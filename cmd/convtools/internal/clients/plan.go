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

// A conversation of the sample workspace.
const (
	gaugeFeed      = "jp-c17737387251"
	gaugeFeedTitle = "Retry policy for the gauge feed"
)

// plan is the work of a client in one session.
type plan struct {
	SDK     string   `json:"sdk,omitempty"`
	Era     string   `json:"era"`
	URL     string   `json:"url,omitempty"`
	Command []string `json:"command,omitempty"`

	Calls       []call       `json:"calls"`
	Completions []completion `json:"completions"`
	Reads       []string     `json:"reads"` // URIs of resources
	// PromptArguments are by name; the empty name stands for all others.
	PromptArguments map[string]string `json:"promptArguments"`
}

// completion is the completion of an argument of a resource template, where others have
// their values already.
type completion struct {
	Template string            `json:"template"`
	Name     string            `json:"name"`
	Value    string            `json:"value"`
	Others   map[string]string `json:"others"`
}

// The two eras of the protocol: sessions that begin with initialize, and requests that each
// say what they need.
const (
	legacy = "legacy"
	modern = "modern"
)

func newPlan(era string) plan {
	return plan{
		Era: era,
		// The last call is written as models really write arguments.
		Calls: append(wellTyped(), call{"conversation_list", map[string]any{"limit": "2", "archived": "true"}}),
		Completions: []completion{
			{"conversation://{id}", "id", "Retry policy", nil},
			{"kb://{topic}/{slug}", "slug", "sta", map[string]string{"topic": "notes"}},
		},
		Reads:           []string{"conversation://" + gaugeFeed, northURI, hiddenURI},
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

// seen is everything that a client saw in one session.
type seen struct {
	Instructions string       `json:"instructions"`
	Tools        []seenTool   `json:"tools"`
	Calls        []seenCall   `json:"calls"`
	Templates    []string     `json:"templates"`
	Resources    []string     `json:"resources"`
	Completions  [][]string   `json:"completions"`
	Texts        []string     `json:"texts"` // of the resources that were read
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

// visit returns a step in which a client has one session with the server.
func visit(http bool, era string, client func(context.Context, *lab, plan) (seen, error)) func(context.Context, *lab) (string, error) {
	return func(ctx context.Context, l *lab) (string, error) {
		p := newPlan(era)
		p.Command = l.serverCommand()
		session := func(ctx context.Context, url string) error {
			p.URL = url
			s, err := client(ctx, l, p)
			if err != nil {
				return err
			}
			return s.check(ctx, l, p)
		}
		if http {
			return "", l.serve(ctx, append(l.serverCommand(), "--http"), session)
		}
		return "", session(ctx, "")
	}
}

// check returns everything that a client should have seen otherwise.
func (s seen) check(ctx context.Context, l *lab, p plan) error {
	var errs []error
	// Clients cut longer instructions, without a word.
	if n := len([]rune(s.Instructions)); n == 0 || n > 2048 {
		errs = append(errs, fmt.Errorf("the instructions have %d characters, want 1 to 2,048", n))
	}
	for _, c := range p.Completions {
		if !slices.Contains(s.Templates, c.Template) {
			errs = append(errs, fmt.Errorf("resource templates are %q, want %q among them", s.Templates, c.Template))
		}
	}
	if diff := cmp.Diff([][]string{{gaugeFeed}, {"stations/north shore"}}, s.Completions); diff != "" {
		errs = append(errs, fmt.Errorf("the arguments of templates complete otherwise (-want +got):\n%s", diff))
	}
	if len(s.Prompts) == 0 {
		errs = append(errs, errors.New("there are no prompts"))
	}
	for _, prompt := range s.Prompts {
		for name, value := range prompt.Arguments {
			if !strings.Contains(prompt.Text, value) {
				errs = append(errs, fmt.Errorf("the prompt %s says nothing of %s=%s: %.200q", prompt.Name, name, value, prompt.Text))
			}
		}
	}
	return errors.Join(append(errs, s.checkTools(l.tools), s.checkCalls(ctx, l, p.Calls), s.checkResources())...)
}

// checkTools compares the list of tools with the generated one. The order counts: lists that
// change spoil prompt caches.
func (s seen) checkTools(want []seenTool) error {
	var errs []error
	decoded := cmp.Transformer("decoded", func(schema json.RawMessage) (value any) {
		if err := json.Unmarshal(schema, &value); err != nil && len(schema) > 0 {
			return err.Error()
		}
		return value
	})
	if diff := cmp.Diff(want, s.Tools, decoded); diff != "" {
		errs = append(errs, fmt.Errorf("other tools are listed (-want +got):\n%s", diff))
	}
	for _, tool := range s.Tools {
		if n := len([]rune(tool.Description)); n > 2048 {
			errs = append(errs, fmt.Errorf("%s: the description has %d characters, clients show 2,048", tool.Name, n))
		}
		if len(tool.OutputSchema) > 0 && string(tool.OutputSchema) != "null" {
			errs = append(errs, fmt.Errorf("%s declares an output schema, which makes clients hide the text", tool.Name))
		}
	}
	return errors.Join(errs...)
}

// checkCalls compares the answers with those that JP gets.
func (s seen) checkCalls(ctx context.Context, l *lab, calls []call) error {
	var want []seenCall
	for _, c := range calls {
		text, failed, err := l.answer(ctx, c)
		if err != nil {
			return err
		}
		want = append(want, seenCall{Text: text, IsError: failed}) // structured content makes clients hide the text
	}
	if diff := cmp.Diff(want, s.Calls); diff != "" {
		return fmt.Errorf("the answers are not those that JP gets (-want +got):\n%s", diff)
	}
	return nil
}

// checkResources checks the resources that are listed, and the texts of those of the plan.
func (s seen) checkResources() error {
	if diff := cmp.Diff([]string{gaugesURI, northURI}, s.Resources); diff != "" {
		return fmt.Errorf("other resources are listed (-want +got):\n%s", diff)
	}
	if len(s.Texts) != 3 || !strings.Contains(s.Texts[0], gaugeFeedTitle) || s.Texts[1] != northText || s.Texts[2] != hiddenText {
		return fmt.Errorf("the resources read as %.200q", s.Texts)
	}
	return nil
}
