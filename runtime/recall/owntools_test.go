package recall

import "testing"

func TestIsRecallTool(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"conversation_grep":                  true,
		"conversation_list":                  true,
		"conversation_read":                  true,
		"mcp__convtools__conversation_grep":  true,
		"convtools_conversation_read":        true,
		"convtools.conversation_list":        true,
		"convtools/conversation_list":        true,
		"convtools:conversation_list":        true,
		"mcp-convtools-conversation_grep":    true,
		"":                                   false,
		"grep":                               false,
		"fs_grep":                            false,
		"conversation_grep_files":            false,
		"myconversation_grep":                false,
		"Conversation_Grep":                  false,
		"conversation_create":                false,
		"conversation_grep ":                 false,
		"conversation-grep":                  false,
		"conversation_grepconversation_grep": false,
	} {
		if got := isRecallTool()(name); got != want {
			t.Errorf("isRecallTool(%q) = %v", name, got)
		}
	}
}

// A workspace may have hundreds of thousands of tool calls.
func TestOwnToolsCostNothing(t *testing.T) {
	isOwn := isRecallTool()
	if n := testing.AllocsPerRun(10, func() { isOwn("mcp__convtools__conversation_read") }); n > 0 {
		t.Errorf("%v allocations for each tool call", n)
	}
}
