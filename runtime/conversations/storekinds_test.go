package conversations_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/pi"
	"github.com/convtools/convtools/runtime/transcript"
)

// A program goes on with the session that it recorded. An id that the program would read as a flag is refused.
func TestResumeCommand(t *testing.T) {
	t.Parallel()
	tests := map[transcript.ID][]string{
		"claude-7c90ab12-4f3e-4d21-b8a7-05e6c1d9f3a4":         {"claude", "--resume", "7c90ab12-4f3e-4d21-b8a7-05e6c1d9f3a4"},
		"claude-7c90ab12-4f3e-4d21-b8a7-05e6c1d9f3a4.agent-1": {"claude", "--resume", "7c90ab12-4f3e-4d21-b8a7-05e6c1d9f3a4"},
		"jp-c17648402467":   {"jp", "query", "--id", "jp-c17648402467"},
		"pi---provider":     nil,
		"goose--h":          nil,
		"qwen-":             nil,
		"zed-a":             nil,
		"cursor-2c154aa7":   nil,
		"goose-20260501_1":  {"goose", "session", "--resume", "--session-id", "20260501_1"},
		"pi-x --provider=y": {"pi", "--session", "x --provider=y"}, // one argument, in no shell
	}
	for id, want := range tests {
		got := conversations.ResumeCommand(&transcript.Conversation{ID: id})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	ofAgent := transcript.Conversation{ID: "pi-x", Labels: map[string]string{pi.AgentLabel: "main"}}
	if got := conversations.ResumeCommand(&ofAgent); got != nil {
		t.Errorf("a conversation of OpenClaw is not pi's: %q", got)
	}
}
