package main

import (
	"time"

	"github.com/convtools/convtools/runtime/model/provider"
)

// steps returns all steps, in the order they run in.
func steps() []step {
	const stdio, http = false, true
	return []step{
		{"inspector/stdio/legacy", 2 * time.Minute, inspect(stdio, legacy)},
		{"inspector/stdio/modern", 2 * time.Minute, inspect(stdio, modern)},
		{"inspector/http/legacy", 2 * time.Minute, inspect(http, legacy)},
		{"inspector/http/modern", 2 * time.Minute, inspect(http, modern)},
		{"conformance/2025-11-25", 3 * time.Minute, conform("2025-11-25", "")},
		{"conformance/2026-07-28", 3 * time.Minute, conform("2026-07-28", "")},
		{"conformance-fixture/2025-11-25", 3 * time.Minute, conform("2025-11-25", "fixture-")},
		{"conformance-fixture/2026-07-28", 3 * time.Minute, conform("2026-07-28", "fixture-")},
		{"typescript-v1/stdio/legacy", time.Minute, visit(stdio, legacy, typescript("v1"))},
		{"typescript-v1/http/legacy", time.Minute, visit(http, legacy, typescript("v1"))},
		{"typescript-v2/stdio/legacy", time.Minute, visit(stdio, legacy, typescript("v2"))},
		{"typescript-v2/stdio/modern", time.Minute, visit(stdio, modern, typescript("v2"))},
		{"typescript-v2/http/legacy", time.Minute, visit(http, legacy, typescript("v2"))},
		{"typescript-v2/http/modern", time.Minute, visit(http, modern, typescript("v2"))},
		{"mcp-go/stdio/legacy", time.Minute, visit(stdio, legacy, mcpGo)},
		{"mcp-go/stdio/modern", time.Minute, visit(stdio, modern, mcpGo)},
		{"mcp-go/http/legacy", time.Minute, visit(http, legacy, mcpGo)},
		{"mcp-go/http/modern", time.Minute, visit(http, modern, mcpGo)},
		{"openai-sdk/responses", time.Minute, vendor(provider.Responses)},
		{"openai-sdk/chat", time.Minute, vendor(provider.Chat)},
		{"anthropic-sdk/messages", time.Minute, vendor(provider.Messages)},
		{"codex/stdio", 2 * time.Minute, finds(stdio, codex())},
		{"codex/http", 2 * time.Minute, finds(http, codex())},
		{"opencode/stdio", 2 * time.Minute, finds(stdio, opencode())},
		{"opencode/http", 2 * time.Minute, finds(http, opencode())},
		{"claude-code/history", 3 * time.Minute, remembers(claudeCode(false))},
		{"claude-code/search", 3 * time.Minute, searches(claudeCode(true))},
		{"codex/history", 3 * time.Minute, remembers(codex())},
		{"opencode/history", 5 * time.Minute, remembers(opencode())},
		{"claude-code/conv", 3 * time.Minute, delegates(claudeCode(false))},
		{"codex/conv", 3 * time.Minute, delegates(codex())},
		{"opencode/conv", 5 * time.Minute, delegates(opencode())},
	}
}
