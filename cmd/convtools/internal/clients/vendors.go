package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/config"
	models "github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/modeltest"
	"github.com/convtools/convtools/runtime/model/provider"
)

// vendor has the vendor's own SDK for an interface judge what an adapter sends, and read what the provider of tests
// answers: the SDK's types have to allow each request, and the SDK has to find the same in each response
// as the adapter does.
func vendor(api string) func(context.Context, *lab) (string, error) {
	return func(ctx context.Context, l *lab) (note string, err error) {
		server := &modeltest.Server{Answer: vendorAnswer}
		url := server.Start()
		defer server.Close()
		responses, err := converse(ctx, provider.New("vendor", config.Model{
			API: api, WebSearch: true, BaseURL: url, Model: "gpt-5", MaxOutputTokens: 2000,
		}, func(context.Context, bool) (string, error) { return modeltest.Key, nil }), api)
		if err != nil {
			return "", err
		}
		exchanges := server.Exchanges()
		if err := l.typecheck(ctx, api, exchanges); err != nil {
			return "", err
		}
		for i, e := range exchanges {
			seen, err := l.askVendor(ctx, api, url, e.Body)
			if err != nil {
				return "", fmt.Errorf("response %d: %w", i+1, err)
			}
			if diff := cmp.Diff(seenOf(responses[i]), seen); diff != "" {
				return "", fmt.Errorf("response %d (-adapter +SDK):\n%s", i+1, diff)
			}
		}
		return fmt.Sprintf("%d requests, %d bytes the longest", len(exchanges), len(exchanges[len(exchanges)-1].Body)), nil
	}
}

// vendorAnswer answers by the number of outputs there are, so that the same request has the same answer.
func vendorAnswer(e modeltest.Exchange) modeltest.Answer {
	thinking := "Two conversations."
	if e.API == provider.Chat {
		thinking = "" // OpenAI's own does not show it, and its SDK does not know it
	}
	switch len(e.Outputs) {
	case 0:
		return modeltest.Answer{
			Thinking: thinking, Pieces: []string{"I ask ", "two."},
			Calls: []modeltest.Call{
				{ID: "call_a", Name: "conv_create", Args: `{"user_instruction":"größer <&>"}`},
				{ID: "call_b", Name: "fetch", Args: `{}`},
			},
			Usage: modeltest.Usage{Input: 120, Output: 40},
		}
	case 2:
		return modeltest.Answer{Calls: []modeltest.Call{{ID: "call_c", Name: "conv_list", Args: `{}`}}, Usage: modeltest.Usage{Input: 200, Output: 5}}
	}
	return modeltest.Answer{Pieces: []string{"Done."}, Usage: modeltest.Usage{Input: 300, Output: 2}}
}

// converse has a conversation with everything in it that an adapter sends.
func converse(ctx context.Context, m models.Model, api string) ([]models.Response, error) {
	schema := json.RawMessage(`{"type":"object","properties":{"user_instruction":{"type":"string"}},"additionalProperties":false}`)
	instructions := "Be brief."
	request := models.Request{
		Instructions: &instructions, CacheKey: "conversation", WebSearch: api != provider.Chat,
		Items: []models.Item{{Kind: models.UserMessage, Parts: []models.Part{
			{Text: "Look"}, {ImageURL: "data:image/png;base64,AAAA"}, {ImageURL: "https://example.com/a.png"},
		}}},
	}
	for _, name := range []string{"conv.create", "conv.list", "fetch"} {
		request.Tools = append(request.Tools, models.Tool{Name: name, Description: "Does it.", Parameters: schema})
	}
	var responses []models.Response
	for {
		response, err := m.Sample(ctx, request, nil)
		if err != nil {
			return nil, fmt.Errorf("asking the provider: %w", err)
		}
		responses = append(responses, response)
		request.Items = append(request.Items, response.Items...)
		n := len(request.Items)
		for _, item := range response.Items {
			if item.Kind == models.ToolCall {
				request.Items = append(request.Items, models.Item{Kind: models.ToolOutput, CallID: item.CallID, Output: "{}", Failed: item.Name == "fetch"})
			}
		}
		if len(request.Items) == n {
			return responses, nil
		}
	}
}

// typecheck compiles requests as values of the SDK's own type for them.
func (l *lab) typecheck(ctx context.Context, api string, exchanges []modeltest.Exchange) error {
	imports := map[string]string{
		provider.Responses: "import type { ResponseCreateParamsStreaming as Request } from 'openai/resources/responses/responses'",
		provider.Chat:      "import type { ChatCompletionCreateParamsStreaming as Request } from 'openai/resources/chat/completions'",
		provider.Messages:  "import type { MessageCreateParamsStreaming as Request } from '@anthropic-ai/sdk/resources/messages'",
	}
	source := imports[api] + "\n"
	for _, e := range exchanges {
		source += fmt.Sprintf("export const request%d: Request = %s\n", strings.Count(source, "\n"), e.Body)
	}
	// It has to be below the packages, and what is wrong has to be found.
	for name, test := range map[string]struct {
		source string
		passes bool
	}{
		api + ".ts":       {source, true},
		api + "-wrong.ts": {source + "export const wrong: Request = { ...request1, modle: 'x', stream: 3 }\n", false},
	} {
		file := filepath.Join(l.dir, name)
		if err := os.WriteFile(file, []byte(test.source), 0o600); err != nil {
			return fmt.Errorf("writing requests: %w", err)
		}
		result, err := l.runNode(ctx, l.module("typescript", "bin", "tsc"), "--noEmit", "--strict", "--skipLibCheck",
			"--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022", "--ignoreConfig", file)
		if err != nil {
			return err
		}
		if (result.ExitCode == 0) != test.passes {
			return fmt.Errorf("compiling %s: %w", name, exitError(result))
		}
	}
	return nil
}

// vendorSeen is what a response has, for adapters and SDKs alike.
type vendorSeen struct {
	Text   string           `json:"text"`
	Calls  []vendorSeenCall `json:"calls"`
	Thinks bool             `json:"thinks"`
	Usage  map[string]int64 `json:"usage"`
}

type vendorSeenCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func seenOf(r models.Response) vendorSeen {
	seen := vendorSeen{Calls: []vendorSeenCall{}, Usage: map[string]int64{"input": r.Usage.InputTokens, "output": r.Usage.OutputTokens}}
	for _, item := range r.Items {
		switch item.Kind {
		case models.AgentMessage:
			seen.Text += item.Text()
		case models.Reasoning:
			seen.Thinks = true
		case models.ToolCall:
			seen.Calls = append(seen.Calls, vendorSeenCall{item.CallID, item.Wire, item.Arguments})
		}
	}
	return seen
}

// askVendor sends a request with the SDK and returns what it finds in the response.
func (l *lab) askVendor(ctx context.Context, api string, url string, body json.RawMessage) (vendorSeen, error) {
	var seen vendorSeen
	err := l.runJSON(ctx, "model.mjs", map[string]any{"api": api, "url": url, "key": modeltest.Key, "body": body}, &seen)
	return seen, err
}
