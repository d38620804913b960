package recall_test

import (
	"cmp"
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
	turn := printed(said("user", 1, "And?"))
	for _, tc := range []struct {
		name, tool, arguments string
		context               contract.Context
		ls, want              string
	}{
		{"not known", "conversation_grep", `{"pattern":"x"}`, contract.Context{}, "", ""},
		{"known", "conversation_grep", `{"pattern":"x"}`, contract.Context{ConversationID: "jp-c1"}, "", ""},
		{"no id", "conversation_grep", `{"pattern":"x"}`, contract.Context{ConversationID: "5f3c"}, "", malformed},
		{"no id in a listing", "conversation_list", `{}`, contract.Context{ConversationID: "5f3c"}, "", malformed},
		{"no id to read", "conversation_read", `{"id":"jp-c17648402467"}`, contract.Context{ConversationID: "5f3c"}, listed(row(readID, "One", "")), malformed},
		{"read all the same", "conversation_read", `{"id":"jp-c17648402467","include_current":true}`, contract.Context{ConversationID: "5f3c"}, listed(row(readID, "One", "")), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			answer, err := conversation.Call(t.Context(), over(&cli{ls: cmp.Or(tc.ls, "[]"), print: turn}), contract.Call{
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
