package recall_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// TestSearchByRelevance: with order=relevance the message that answers best is the first one, of
// the roles and dates that are asked for; a long one shows its best part.
func TestSearchByRelevance(t *testing.T) {
	t.Parallel()
	tools := overSource(workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "caps").Title("Caps").TurnStart().User("Why did we drop the cap of the retries?").
			Assistant(strings.Repeat("A line of no interest is here.\n", 100) + "The cap was dropped: no feed needs it.")
		w.Conversation("17000000002", "other").Title("Other").TurnStart().User("The cap of the bottle is red.").Assistant("I see.")
		w.Conversation("17000000003", "third").Title("Third").TurnStart().User("Which feed?").Assistant("The tide.")
	}))
	call := func(arguments string) string {
		answer, err := conversation.Call(t.Context(), tools, contract.Call{Tool: "conversation_search", Arguments: []byte(arguments)})
		if err != nil {
			return err.Error()
		}
		var shown []string
		for block := range strings.SplitSeq(answer, "\n\n---\n\n") {
			head, body, _ := strings.Cut(block, "\n")
			if _, after, ok := strings.Cut(head, "] "); ok {
				head = after
			}
			shown = append(shown, head+": "+body[max(0, len(body)-38):])
		}
		return strings.Join(shown, "\n")
	}
	for arguments, want := range map[string]string{
		`{"query":"why was the cap dropped?","order":"relevance","ids":true,"limit":1,"roles":["user"]}`: "user (conv: Caps) id: jp-c17000000001 event: 1: hy did we drop the cap of the retries?\nThese are the 1 that answer best; a larger limit shows more.: ",
		`{"query":"why was the cap dropped?","order":"relevance","roles":["assistant"],"ids":true}`:      "assistant (conv: Caps) id: jp-c17000000001 event: 2: The cap was dropped: no feed needs it.\n1 message is cut at 2000 characters. conversation_read with id and event shows one whole: id: jp-c17000000001 event: 2.: ",
		`{"query":"walrus","order":"relevance"}`:                                                         "No matching messages.: ",
		`{"query":"cap","order":"relevance","end_date":"1999-01-01"}`:                                    "No matching messages.: ",
		`{"order":"relevance"}`:             "order must be newest where there is no query, or a cursor, got \"relevance\".",
		`{"query":"tide","order":"newest"}`: "assistant (conv: Third): The tide.",
	} {
		got := call(arguments)
		if strings.HasPrefix(want, "order must") {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s", arguments, got)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arguments, diff)
		}
	}
}
