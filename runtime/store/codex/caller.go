package codex

import (
	"context"
	"strings"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	// clientName is what Codex calls itself to an MCP server.
	clientName = "codex-mcp-client"
	// threadKey and turnKey are where it says which thread calls, in the _meta of a
	// call: since 0.169 by itself, and since 0.130 in what it says of the turn, with the
	// thread that all sub-agents come from.
	threadKey, turnKey = "threadId", "x-codex-turn-metadata"
	// threadEnv is where it says that to a command it runs.
	threadEnv = "CODEX_THREAD_ID"
)

// Caller implements [store.Recognizer].
func (s *Store) Caller(_ context.Context, from caller.Caller) store.Caller {
	turn, _ := from.Meta[turnKey].(map[string]any)
	thread, root := uuid(from.Meta[threadKey]), uuid(turn["session_id"])
	named := uuid(turn["thread_id"])
	switch {
	case thread == "":
		thread = named
	case named != "" && named != thread:
		thread = "" // one of them is not what it is taken for
	}
	switch {
	case thread != "":
		ids := []transcript.ID{id(thread)}
		if root != "" && root != thread {
			ids = append(ids, id(root))
		}
		return store.Caller{Evidence: store.ByCall, IDs: ids}
	case turn != nil || from.Client == clientName:
		return store.Caller{Evidence: store.ByCall}
	case from.Process != caller.Shell || from.Client != "":
		return store.Caller{}
	}
	if thread := uuid(s.Getenv(threadEnv)); thread != "" {
		return store.Caller{Evidence: store.ByEnvironment, IDs: []transcript.ID{id(thread)}}
	}
	return store.Caller{}
}

// uuid returns a uuid in its one spelling, and "" for anything else.
func uuid(value any) string {
	text, _ := value.(string)
	if text = strings.ToLower(text); !history.IsUUID(text) {
		return ""
	}
	return text
}
