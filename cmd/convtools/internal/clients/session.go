package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// The eras of the protocol: sessions that begin with initialize, and requests without a session.
const (
	legacy = "legacy"
	modern = "modern"
)

// target is a server, which a client starts or reaches at a URL.
type target struct {
	Era     string   `json:"era"`
	URL     string   `json:"url,omitempty"`
	Command []string `json:"command,omitempty"`
}

// client makes requests in one session with a server and returns a result for each.
// The result is zero for a method that the client does not have.
type client func(context.Context, *lab, target, []request) ([]result, error)

// request is a request of testdata/session.json.
type request struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params,omitempty"`
	Shows  []string        `json:"shows,omitempty"` // parts of what the result lists or says, in its order
	// Inspector marks the requests that MCP Inspector makes: it starts a process for each.
	Inspector bool `json:"inspector,omitempty"`
}

// result has the members of the results of all methods that are checked.
type result struct {
	Instructions      string
	Tools             []tool
	Content           []block
	IsError           bool
	StructuredContent any
	Resources         []struct{ URI string }
	ResourceTemplates []struct{ URITemplate string }
	Contents          []block
	Completion        struct{ Values []string }
	Prompts           []struct{ Name string }
	Messages          []struct{ Content block }
}

// block is a part of a content.
type block struct{ Text string }

// shown returns what a result lists or says: values, URIs, texts and names.
func (r result) shown() []string {
	shown := r.Completion.Values
	for _, resource := range r.Resources {
		shown = append(shown, resource.URI)
	}
	for _, template := range r.ResourceTemplates {
		shown = append(shown, template.URITemplate)
	}
	for _, contents := range r.Contents {
		shown = append(shown, contents.Text)
	}
	for _, prompt := range r.Prompts {
		shown = append(shown, prompt.Name)
	}
	for _, message := range r.Messages {
		shown = append(shown, message.Content.Text)
	}
	return shown
}

// session makes the requests of testdata/session.json with a client, and checks the results. It does not check a zero
// result, because the client does not have the method.
func (l *lab) session(ctx context.Context, c client, t target) error {
	data, err := os.ReadFile(l.testdata("session.json"))
	if err != nil {
		return err
	}
	var requests []request
	if err := json.Unmarshal(data, &requests); err != nil {
		return err
	}
	results, err := c(ctx, l, t, requests)
	if err != nil {
		return err
	}
	if len(results) != len(requests) {
		return fmt.Errorf("the client has %d results of %d requests", len(results), len(requests))
	}
	var errs []error
	for i, r := range requests {
		if cmp.Equal(results[i], result{}) {
			continue
		}
		if err := l.check(ctx, r, results[i]); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", r.Method, r.Params, err))
		}
	}
	return errors.Join(errs...)
}

// check returns an error if a result is wrong for its request. Instructions must have a
// length that clients show, and tools and answers must be those of convtools. Other
// results must show the parts that the request says, and nothing else.
func (l *lab) check(ctx context.Context, r request, got result) error {
	switch r.Method {
	case "initialize":
		// Clients silently cut longer instructions.
		if n := len([]rune(got.Instructions)); n == 0 || n > 2048 {
			return fmt.Errorf("the instructions have %d characters, want 1 to 2,048", n)
		}
		return nil
	case "tools/list":
		return checkTools(l.tools, got.Tools)
	case "tools/call":
		return l.checkCall(ctx, r, got)
	}
	shown := got.shown()
	if len(shown) != len(r.Shows) {
		return fmt.Errorf("it shows %.200q, want %q", shown, r.Shows)
	}
	for i, part := range r.Shows {
		if !strings.Contains(shown[i], part) {
			return fmt.Errorf("it shows %.200q, want %q", shown[i], part)
		}
	}
	return nil
}

// checkTools compares a list of tools with the generated one, in order: another order
// spoils prompt caches. It also returns an error for a description that clients would
// cut, and for an output schema, with which clients hide the text of results.
func checkTools(want, got []tool) error {
	decoded := cmp.Transformer("decoded", func(schema json.RawMessage) (members map[string]any) {
		_ = json.Unmarshal(schema, &members) // another type differs from an object
		return members
	})
	if diff := cmp.Diff(want, got, decoded); diff != "" {
		return fmt.Errorf("other tools are listed (-want +got):\n%s", diff)
	}
	for _, tool := range got {
		if n := len([]rune(tool.Description)); n > 2048 {
			return fmt.Errorf("%s: the description has %d characters, clients show 2,048", tool.Name, n)
		}
		if len(tool.OutputSchema) > 0 && string(tool.OutputSchema) != "null" {
			return fmt.Errorf("%s declares an output schema, which makes clients hide the text", tool.Name)
		}
	}
	return nil
}

// checkCall compares the result of a call with the answer of convtools jp-tool.
func (l *lab) checkCall(ctx context.Context, r request, got result) error {
	var c call
	if err := json.Unmarshal(r.Params, &c); err != nil {
		return err
	}
	answer, failed, err := l.answer(ctx, c)
	if err != nil {
		return err
	}
	want := result{Content: []block{{answer}}, IsError: failed}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("the answer is not that of the command line (-want +got):\n%s", diff)
	}
	return nil
}
