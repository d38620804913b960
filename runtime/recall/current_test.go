package recall_test

import (
	"strings"
	"testing"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
)

// What cannot be done because the current conversation is not known is said to
// whoever asked for it, and to nobody else.
func TestCurrentUnknown(t *testing.T) {
	t.Parallel()
	const malformed = "The host's conversation id is not understood, so "
	none := "[]\n"
	turn := printed(1, 1, 1, "", said("user", 1, "And?"))
	for _, tc := range []struct {
		name, tool, arguments string
		context               contract.Context
		stdout, want          string
	}{
		{"not known", "conversation_grep", `{"pattern":"x"}`, contract.Context{}, none, ""},
		{"known", "conversation_grep", `{"pattern":"x"}`, contract.Context{ConversationID: "jp-c1"}, none, ""},
		{"no id", "conversation_grep", `{"pattern":"x"}`, contract.Context{ConversationID: "5f3c"}, none, malformed},
		{"no id in a listing", "conversation_list", `{}`, contract.Context{ConversationID: "5f3c"}, none, malformed},
		{"no id to read", "conversation_read", `{"id":"jp-c17648402467"}`, contract.Context{ConversationID: "5f3c"}, turn, malformed},
		{"read all the same", "conversation_read", `{"id":"jp-c17648402467","include_current":true}`, contract.Context{ConversationID: "5f3c"}, turn, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			answer, err := conversation.Call(t.Context(), over(&cli{t: t, stdout: tc.stdout}), contract.Call{
				Tool: tc.tool, Arguments: []byte(tc.arguments), Context: tc.context,
			})
			if err != nil {
				t.Fatal(err)
			}
			if want := tc.want != ""; strings.Contains(answer, malformed) != want {
				t.Errorf("says %q: %v, want %v, in\n%s", malformed, !want, want, answer)
			}
		})
	}
}
