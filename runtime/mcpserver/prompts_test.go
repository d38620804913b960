package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestWordsOfPrompt: a client that splits the text after a prompt's name into its arguments,
// and drops words that no argument takes, has an argument for each word.
func TestWordsOfPrompt(t *testing.T) {
	t.Parallel()
	for client, typed := range map[string][]string{
		"claude-code": {`widget`, `"retry`, `cache"`, `?`}, // as it splits: widget "retry cache" ?
		"another":     {`widget "retry cache" ?`},
	} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			session := connectAs(t, newTools().config(), client)
			list, err := session.ListPrompts(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			given := map[string]string{}
			for i, word := range typed {
				given[list.Prompts[0].Arguments[i].Name] = word
			}
			if n := len(list.Prompts[1].Arguments); n != 1 {
				t.Errorf("resume has %d arguments: its id is one word", n)
			}
			prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "recall", Arguments: given})
			if err != nil {
				t.Fatal(err)
			}
			got := prompt.Messages[0].Content.(*mcp.TextContent).Text
			if want := `said about "widget \"retry cache\" ?" in`; !strings.Contains(got, want) {
				t.Errorf("the prompt is %q, without %q", got, want)
			}
			_, err = session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "recall", Arguments: map[string]string{"topic": "a", "topics": "b"}})
			if err == nil || !strings.Contains(err.Error(), `no argument "topics"`) {
				t.Errorf("an argument that there is not: %v", err)
			}
		})
	}
}
