package main

import (
	"time"

	"github.com/convtools/convtools/runtime/model/provider"
)

// steps returns all steps, in the order they run in.
func steps() []step {
	return []step{
		{"inspector/stdio/legacy", 2 * time.Minute, inspectStdio(legacy)},
		{"inspector/stdio/modern", 2 * time.Minute, inspectStdio(modern)},
		{"inspector/http/legacy", 2 * time.Minute, inspectHTTP(legacy)},
		{"inspector/http/modern", 2 * time.Minute, inspectHTTP(modern)},
		{"conformance/2025-11-25", 3 * time.Minute, conform("2025-11-25")},
		{"conformance/2026-07-28", 3 * time.Minute, conform("2026-07-28")},
		{"conformance-fixture/2025-11-25", 3 * time.Minute, conformFixture("2025-11-25")},
		{"conformance-fixture/2026-07-28", 3 * time.Minute, conformFixture("2026-07-28")},
		{"typescript-v1/stdio/legacy", time.Minute, over("stdio", newPlan(legacy), typescript("v1"))},
		{"typescript-v1/http/legacy", time.Minute, over("http", newPlan(legacy), typescript("v1"))},
		{"typescript-v2/stdio/legacy", time.Minute, over("stdio", newPlan(legacy), typescript("v2"))},
		{"typescript-v2/stdio/modern", time.Minute, over("stdio", newPlan(modern), typescript("v2"))},
		{"typescript-v2/http/legacy", time.Minute, over("http", newPlan(legacy), typescript("v2"))},
		{"typescript-v2/http/modern", time.Minute, over("http", newPlan(modern), typescript("v2"))},
		{"mcp-go/stdio/legacy", time.Minute, over("stdio", newPlan(legacy), mcpGo)},
		{"mcp-go/stdio/modern", time.Minute, over("stdio", newPlan(modern), mcpGo)},
		{"mcp-go/http/legacy", time.Minute, over("http", newPlan(legacy), mcpGo)},
		{"mcp-go/http/modern", time.Minute, over("http", newPlan(modern), mcpGo)},
		{"openai-sdk/responses", time.Minute, vendor(provider.Responses)},
		{"openai-sdk/chat", time.Minute, vendor(provider.Chat)},
		{"anthropic-sdk/messages", time.Minute, vendor(provider.Messages)},
		{"codex/stdio", 2 * time.Minute, journey("stdio", codex())},
		{"codex/http", 2 * time.Minute, journey("http", codex())},
		{"opencode/stdio", 2 * time.Minute, journey("stdio", opencode())},
		{"opencode/http", 2 * time.Minute, journey("http", opencode())},
		{"claude-code/history", 3 * time.Minute, history(claudeCode())},
		{"codex/history", 3 * time.Minute, history(codex())},
		{"opencode/history", 5 * time.Minute, history(opencode())},
		{"claude-code/conv", 3 * time.Minute, conversing(claudeCode())},
		{"codex/conv", 3 * time.Minute, conversing(codex())},
		{"opencode/conv", 5 * time.Minute, conversing(opencode())},
	}
}
