package main

import (
	"context"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/model/provider"
)

// step is one proof.
type step struct {
	name  string // the program and its work, separated by slashes
	limit time.Duration
	// run returns a note for the reader, which may be empty.
	run func(ctx context.Context, l *lab) (note string, err error)
}

// steps returns all steps in the order in which they run.
func steps() []step {
	const stdio, http = false, true
	return slices.Concat(
		sessions("inspector", inspector, legacy, modern),
		[]step{
			{"conformance/2025-11-25", 3 * time.Minute, conform("2025-11-25")},
			{"conformance/2026-07-28", 3 * time.Minute, conform("2026-07-28")},
		},
		sessions("typescript-v1", typescript("v1"), legacy),
		sessions("typescript-v2", typescript("v2"), legacy, modern),
		[]step{
			{"openai-sdk/responses", time.Minute, vendor(provider.Responses)},
			{"openai-sdk/chat", time.Minute, vendor(provider.Chat)},
			{"anthropic-sdk/messages", time.Minute, vendor(provider.Messages)},
			{"codex/stdio", 2 * time.Minute, work("codex", stdio, "find")},
			{"codex/http", 2 * time.Minute, work("codex", http, "find")},
			{"opencode/stdio", 2 * time.Minute, work("opencode", stdio, "find")},
			{"opencode/http", 2 * time.Minute, work("opencode", http, "find")},
			{"claude-code/history", 3 * time.Minute, work("claude-code", stdio, "history")},
			{"claude-code/search", 3 * time.Minute, work("claude-code", stdio, "search")},
			{"claude-code/hook", 3 * time.Minute, work("claude-code", stdio, "hook")},
			{"codex/history", 3 * time.Minute, work("codex", stdio, "history")},
			{"opencode/history", 5 * time.Minute, work("opencode", stdio, "history")},
			{"claude-code/plugin", 2 * time.Minute, pluginOf("claude-code")},
			{"codex/plugin", 2 * time.Minute, pluginOf("codex")},
			{"gemini/plugin", 2 * time.Minute, pluginOf("gemini")},
			{"mcpb/plugin", time.Minute, pluginOf("mcpb")},
			{"cline/recorded", 2 * time.Minute, record("cline")},
			{"qwen/recorded", 3 * time.Minute, record("qwen")},
			{"pi/recorded", 2 * time.Minute, record("pi")},
			{"kilo/recorded", 5 * time.Minute, record("kilo")}, // only on Linux
			{"openclaw/recorded", 5 * time.Minute, record("openclaw")},
			{"copilot/recorded", 3 * time.Minute, record("copilot")},
			{"claude-code/conv", 3 * time.Minute, work("claude-code", stdio, "conv")},
			{"codex/conv", 3 * time.Minute, work("codex", stdio, "conv")},
			{"opencode/conv", 5 * time.Minute, work("opencode", stdio, "conv")},
		},
	)
}

// sessions returns the steps of the named MCP client: for each era one over stdio and one over HTTP.
func sessions(name string, c client, eras ...string) (list []step) {
	for _, era := range eras {
		list = append(list, step{name + "/stdio/" + era, 2 * time.Minute, func(ctx context.Context, l *lab) (string, error) {
			return "", l.session(ctx, c, target{Era: era, Command: l.serverCommand()})
		}})
	}
	for _, era := range eras {
		list = append(list, step{name + "/http/" + era, 2 * time.Minute, func(ctx context.Context, l *lab) (string, error) {
			return "", l.serve(ctx, func(ctx context.Context, url string) error {
				return l.session(ctx, c, target{Era: era, URL: url})
			})
		}})
	}
	return list
}
