// Package agents configures agents of other people for a scripted model on this machine, for the programs that measure and
// try convtools with them.
//
// It must never write outside of the home directory that it is given, nor configure anything with a way out of this
// machine.
package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/convtools/convtools/runtime/model/modeltest"
)

// Packages returns the packages of npm that have the agents, in the versions that are proved to work. Raise them together
// with a run of the programs that use them.
func Packages() map[string]string {
	return map[string]string{"@openai/codex": "0.169.0", "opencode-ai": "1.18.33"}
}

// Key is what the agents show their model.
const Key = modeltest.Key

// Codex writes a configuration of OpenAI's Codex CLI: the model, and an MCP server where serverURL is not empty.
// https://developers.openai.com/codex/config-reference
func Codex(home, modelURL, serverURL string) error {
	register := ""
	if serverURL != "" {
		register = fmt.Sprintf("\n[mcp_servers.convtools]\nurl = %q\n", serverURL)
	}
	config := fmt.Sprintf(`model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = %q
wire_api = "responses"
experimental_bearer_token = %q
request_max_retries = 0
stream_max_retries = 0
%s`, modelURL, Key, register)
	return write(config, home, ".codex", "config.toml")
}

// Opencode writes a configuration of opencode, as [Codex] does.
// https://opencode.ai/docs/config
func Opencode(home, modelURL, serverURL string) error {
	servers := map[string]any{}
	if serverURL != "" {
		servers["convtools"] = map[string]any{"type": "remote", "url": serverURL, "enabled": true, "oauth": false}
	}
	config, err := json.MarshalIndent(map[string]any{
		"model": "scripted/scripted", "small_model": "scripted/scripted",
		"autoupdate": false, "share": "disabled",
		"provider": map[string]any{"scripted": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "scripted",
			"options": map[string]any{"baseURL": modelURL, "apiKey": Key},
			"models": map[string]any{"scripted": map[string]any{
				"name": "scripted", "tool_call": true, "limit": map[string]any{"context": 200_000, "output": 8000},
			}},
		}},
		"mcp": servers,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the configuration of opencode: %w", err)
	}
	return write(string(config), home, ".config", "opencode", "opencode.json")
}

func write(content string, elem ...string) error {
	path := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making a directory for a configuration: %w", err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return fmt.Errorf("writing a configuration: %w", err)
	}
	return nil
}
