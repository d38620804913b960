package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/config"
	models "github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/modeltest"
	"github.com/convtools/convtools/runtime/model/provider"
)

// vendor returns a step in which the types of a vendor's own SDK check the requests that the adapter for an API makes.
func vendor(api string) func(context.Context, *lab) (string, error) {
	return func(ctx context.Context, l *lab) (string, error) {
		thinking := "Two conversations."
		if api == provider.Chat {
			thinking = "" // OpenAI's types do not have it there
		}
		server := &modeltest.Server{Answer: modeltest.Sequence(
			modeltest.Answer{
				Thinking: thinking, Pieces: []string{"I ask ", "two."},
				Calls: []modeltest.Call{
					{ID: "call_a", Name: "conv_create", Args: `{"user_instruction":"größer <&>"}`},
					{ID: "call_b", Name: "fetch", Args: `{}`},
				},
			},
			modeltest.Answer{Calls: []modeltest.Call{{ID: "call_c", Name: "conv_list", Args: `{}`}}},
			modeltest.Answer{Pieces: []string{"Done."}},
		)}
		url := server.Start()
		defer server.Close()
		model := provider.New("vendor", config.Model{
			API: api, WebSearch: true, BaseURL: url, Model: "gpt-5", MaxOutputTokens: 2000,
		}, func(context.Context, bool) (string, error) { return modeltest.Key, nil })
		if err := converse(ctx, model, api); err != nil {
			return "", err
		}
		exchanges := server.Exchanges()
		return fmt.Sprintf("%d requests", len(exchanges)), l.typecheck(ctx, api, exchanges)
	}
}

// converse has a conversation with a model, in which the adapter sends every kind of
// item. It answers the calls of the model until a response has none.
func converse(ctx context.Context, m models.Model, api string) error {
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
	for called := true; called; {
		response, err := m.Sample(ctx, request, func(string) {})
		if err != nil {
			return fmt.Errorf("asking the provider: %w", err)
		}
		request.Items = append(request.Items, response.Items...)
		called = false
		for _, item := range response.Items {
			if item.Kind == models.ToolCall {
				called = true
				request.Items = append(request.Items, models.Item{Kind: models.ToolOutput, CallID: item.CallID, Output: "{}", Failed: item.Name == "fetch"})
			}
		}
	}
	return nil
}

// typecheck compiles requests as values of the SDK's type for requests. It also compiles
// a wrong request, and returns an error if the compiler accepts that one.
func (l *lab) typecheck(ctx context.Context, api string, exchanges []modeltest.Exchange) error {
	source := map[string]string{
		provider.Responses: "import type { ResponseCreateParamsStreaming as Request } from 'openai/resources/responses/responses'\n",
		provider.Chat:      "import type { ChatCompletionCreateParamsStreaming as Request } from 'openai/resources/chat/completions'\n",
		provider.Messages:  "import type { MessageCreateParamsStreaming as Request } from '@anthropic-ai/sdk/resources/messages'\n",
	}[api]
	for i, e := range exchanges {
		source += fmt.Sprintf("export const request%d: Request = %s\n", i, e.Body)
	}
	// The compiler reports @ts-expect-error unless the next line has an error.
	source += "// @ts-expect-error\nexport const wrong: Request = { ...request0, modle: 'x', stream: 3 }\n"
	file := filepath.Join(l.dir, api+".ts") // beside the packages
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return fmt.Errorf("writing requests: %w", err)
	}
	result, err := l.runNode(ctx, l.module("typescript", "bin", "tsc"), "--noEmit", "--strict", "--skipLibCheck",
		"--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022", "--ignoreConfig", file)
	if err == nil && result.ExitCode != 0 {
		err = fmt.Errorf("compiling requests: %w", repository.ExitError(result))
	}
	return err
}
