package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// jpQuery does what jp query did without a terminal when it was recorded. It takes the same flags, prints the same, and
// fails in the same way without a conversation and without a key.
func jpQuery(args []string) {
	asJSON, persist, targeted, tools := false, true, false, true
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		switch name {
		case "-F", "--format":
			if !given {
				i++
				value = args[min(i, len(args)-1)]
			}
			asJSON = value == "json"
		case "-!", "-P", "--no-persist":
			persist = false
		case "-n", "--new", "--id":
			targeted = true
		case "-T", "--no-tool":
			tools = false
		case "q", "query":
		default:
			fmt.Fprintf(os.Stderr, "error: unexpected argument '%s' found\n\nUsage: jp query [OPTIONS] [QUERY]...\n", args[i])
			os.Exit(2)
		}
	}
	fail := func(message string, metadata ...string) {
		if asJSON {
			pairs := [][]string{}
			for i := 0; i < len(metadata); i += 2 {
				pairs = append(pairs, metadata[i:i+2])
			}
			data, _ := json.Marshal(map[string]any{"message": message, "metadata": pairs, "code": 1})
			fmt.Fprintf(os.Stderr, "%s\n{\"trace_log\":\"/tmp/jp-trace.log\"}\n", data)
		} else {
			fmt.Fprintf(os.Stderr, "%s\n\nFull trace log written to: /tmp/jp-trace.log\n", message)
		}
		os.Exit(1)
	}
	if !targeted {
		fail("No conversation targeted.\n\nUse --id=<target> to target a conversation, or --new to start a new one.\n\n" +
			"Conversation Targeting\n\nUse a conversation ID (e.g. jp-c17761673600), a keyword, or any text to\nfuzzy-search by title.\n\n" +
			"Interactive Filter/Picker:\n  ?                             # select from all\n")
	}
	if os.Getenv("ANTHROPIC_API_KEY") == "" {
		fail("Missing environment variable", "variable", "ANTHROPIC_API_KEY")
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(3)
	}
	request := strings.TrimSuffix(string(input), "\n")
	if persist {
		dir := filepath.Join(".jp", "conversations", "17900000000-of-jp")
		if os.MkdirAll(dir, 0o755) != nil ||
			os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"title":"of JP","last_activated_at":"2026-09-21 00:00:00.0"}`), 0o600) != nil ||
			os.WriteFile(filepath.Join(dir, "events.json"), []byte("[]"), 0o600) != nil {
			os.Exit(3)
		}
	}
	header := func(who string) string { return "── " + who + " " + strings.Repeat("─", 40) }
	if !asJSON {
		fmt.Printf("\n%s\n\n%s\n\n%s\n\nI think.\n\nThe tide:\n\n- %s\n", header("user"), request, header("jp (anthropic/claude-opus-4-8)"), request)
		return
	}
	line := func(v map[string]any) {
		if v["type"] != nil {
			v["timestamp"] = "2026-09-21 00:00:00.123456"
		}
		data, _ := json.Marshal(v)
		fmt.Printf("%s\n", data)
	}
	for _, message := range []string{"", header("user"), "", request} { // a request that comes over standard input is echoed
		line(map[string]any{"message": message})
	}
	line(map[string]any{"type": "chat_request", "content": request})
	line(map[string]any{"type": "chat_response", "reasoning": "I think."})
	if tools {
		line(map[string]any{"type": "chat_response", "message": "I look."})
		line(map[string]any{"type": "tool_call_request", "id": "1", "name": "tide", "arguments": map[string]any{}})
		line(map[string]any{"type": "tool_call_response", "id": "1", "content": "high", "is_error": false})
	}
	line(map[string]any{"type": "chat_response", "message": "The tide:\n\n"})
	line(map[string]any{"type": "chat_response", "message": "- " + request})
}

// The command line for JP in the README is the one that the script query_jp runs.
func TestCommandLineOfJP(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../runtime/model/README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/query_jp.txtar")
	if err != nil {
		t.Fatal(err)
	}
	given := regexp.MustCompile("`(command = \\[\"jp\"[^]]*\\])`, `(output) *= *\"json\"`").FindAllStringSubmatch(string(readme), -1)
	if len(given) != 1 || !slices.Contains(strings.Split(string(script), "\n"), given[0][1]) {
		t.Errorf("the README has %q, which the script does not try", given)
	}
}
