package recall_test

import (
	"strings"
	"testing"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// TestRecallNotes: an answer shows the latest statement after the best, and names the conversations
// with the same passage, and a word that occurs nowhere.
func TestRecallNotes(t *testing.T) {
	t.Parallel()
	plan := "The plan of the tidal gauge is this: measure every minute, write what was measured to a file, and send the file once in an hour to the harbour office, by post."
	tools := overSource(workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "first").TurnStart().User(plan).Assistant("I begin.").User("Why steel?").Assistant("It lasts.").
			User("And the tidal gauge?").Assistant("The tidal gauge is of brass now.")
		w.Conversation("17000000002", "second").TurnStart().User(plan).Assistant("No.")
		w.Conversation("17000000003", "third").TurnStart().User("Hello.").Assistant("Hello.")
	}))
	for arguments, want := range map[string][]string{
		`{"query":"the plan to measure the tidal gauge"}`:                       {`<note>The same elsewhere: event=1 of jp-c1700000000`, ` in jp-c1700000000`},
		`{"query":"the tidal gauge", "limit":1}`:                                {`<passage event="6" turn="1" scope="assistant" latest="true">The tidal gauge is of brass now.</passage>`},
		`{"query":"the tidal guage"}`:                                           {`Not found: "guage".`},
		`{"query":"the tidal walrus"}`:                                          {`Not found: "walrus". These passages`},
		`{"query":"the tidal walrus", "scopes":["user"], "since":"2017-01-01"}`: {`Not found: "walrus". Only what scopes and since select was searched.`},
	} {
		answer, err := conversation.Call(t.Context(), tools, contract.Call{Tool: "conversation_recall", Arguments: []byte(arguments)})
		if err != nil {
			t.Errorf("%s: %v", arguments, err)
		}
		for _, part := range want {
			if !strings.Contains(answer, part) {
				t.Errorf("%s: no %s in\n%s", arguments, part, answer)
			}
		}
	}
}
