package tools

import (
	"encoding/json"
	"strings"
	"testing"

	generated "github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

// What the core of sessions answers has the fields that the specs declare, in their order and of their types: an answer
// that is read into the generated type and written by it comes out as it was.
func TestAnswersAreThoseOfTheSpecs(t *testing.T) {
	t.Parallel()
	run := newRun(t)
	first := run.id()
	picture := "data:image/png;base64," + strings.Repeat("A", 5000)
	created := run.call("conv.create", session.Request{Create: &session.Create{
		ConversationID: first, UserInstruction: pointer("hello"), Items: []session.Part{{Text: "x"}, {ImageURL: picture}}, Title: "T",
	}}, "answer")
	sent := run.call("conv.send", session.Request{Send: &session.Send{ConversationID: first, Text: pointer("again")}}, strings.Repeat("é", 40<<10))
	silent := run.call("conv.send", session.Request{Send: &session.Send{ConversationID: first, Text: pointer("again")}}, "")
	failed := run.call("conv.send", session.Request{Send: &session.Send{ConversationID: first, Text: pointer("fail")}}, "")
	listed := run.call("conv.list", session.Request{}, "")
	history := run.call("conv.history", session.Request{History: &session.History{ConversationID: first}}, "")
	shortened := run.call("conv.history", session.Request{History: &session.History{ConversationID: first, Limit: pointer(1)}}, "")

	rewrite := func(answer string, read func() (any, error)) {
		t.Helper()
		fields, err := read()
		if err != nil {
			t.Fatalf("%v: %.200s", err, answer)
		}
		got, err := envelope.Success(fields, nil, contract.Tool{Plain: true})
		// A failure has these three before all.
		if cut, ok := strings.CutPrefix(answer, `{"ok":false,"code":"failed","reason":"the conversation could not answer",`); ok {
			answer = "{" + cut
		}
		if err != nil || got != answer {
			t.Errorf("the answer is\n%.2000s\nand the spec has\n%.2000s\n%v", answer, got, err)
		}
	}
	for _, answer := range []string{created} {
		rewrite(answer, func() (any, error) {
			var r createResult
			err := strict(answer, &r)
			return &generated.CreateResult{
				ConversationID: r.ConversationID, FirstUserMessage: r.FirstUserMessage, FirstItemsCount: r.FirstItemsCount,
				LastAssistantMessage: r.LastAssistantMessage, Status: r.Status, Truncated: r.Truncated,
			}, err
		})
	}
	for _, answer := range []string{sent, silent, failed} {
		rewrite(answer, func() (any, error) {
			var r createResult
			err := strict(answer, &r)
			result := &generated.SendResult{ConversationID: r.ConversationID, LastAssistantMessage: r.LastAssistantMessage, Status: r.Status, Truncated: r.Truncated}
			if r.Error != nil {
				result.Error = &generated.SendResultError{Code: r.Error.Code, Message: r.Error.Message}
			}
			return result, err
		})
	}
	rewrite(listed, func() (any, error) {
		var r listResult
		err := strict(listed, &r)
		result := &generated.ListResult{}
		for _, c := range r.Conversations {
			result.Conversations = append(result.Conversations, generated.ListResultConversation{
				ID: c.ID, MessageCount: c.MessageCount, LastActiveAt: c.LastActiveAt, State: c.State, ParentID: c.ParentID,
				IsRoot: c.IsRoot, IsSelf: c.IsSelf, Title: c.Title,
				Usage: generated.ListResultConversationUsage{InputTokens: c.Usage.InputTokens, OutputTokens: c.Usage.OutputTokens, Samples: c.Usage.Samples, Calls: c.Usage.Calls},
			})
		}
		return result, err
	})
	for _, answer := range []string{history, shortened} {
		rewrite(answer, func() (any, error) {
			var r historyResult
			err := strict(answer, &r)
			result := &generated.HistoryResult{Truncated: r.Truncated}
			for _, e := range r.Entries {
				entry := generated.HistoryResultEntry{Role: e.Role, Text: e.Text, From: e.From, Truncated: e.Truncated}
				for _, a := range e.Attachments {
					entry.Attachments = append(entry.Attachments, generated.HistoryResultEntryAttachment{
						Type: a.Type, ImageURL: a.ImageURL, Sha256: a.SHA256, Bytes: a.Bytes, Elided: a.Elided,
					})
				}
				result.Entries = append(result.Entries, entry)
			}
			return result, err
		})
	}
	for answer, want := range map[string]string{
		created: `"first_items_count":2`, sent: `"truncated":true`, silent: `"no_message"`, failed: `"error":{"code":"overloaded"`,
		listed: `"title":"T"`, history: `"elided":true`,
	} {
		if !strings.Contains(answer, want) {
			t.Errorf("%s is not in %.300s", want, answer)
		}
	}
}

type createResult struct {
	OK                   *bool                           `json:"ok"`
	Code, Reason         string                          `json:"-"`
	ConversationID       string                          `json:"conversation_id"`
	FirstUserMessage     *string                         `json:"first_user_message"`
	FirstItemsCount      *int                            `json:"first_items_count"`
	LastAssistantMessage string                          `json:"last_assistant_message"`
	Status               string                          `json:"status"`
	Error                *struct{ Code, Message string } `json:"error"`
	Truncated            *bool                           `json:"truncated"`
}

type listResult struct {
	Conversations []struct {
		ID           string  `json:"id"`
		MessageCount int     `json:"message_count"`
		LastActiveAt string  `json:"last_active_at"`
		State        string  `json:"state"`
		ParentID     *string `json:"parent_id"`
		IsRoot       *bool   `json:"is_root"`
		IsSelf       *bool   `json:"is_self"`
		Title        *string `json:"title"`
		Usage        struct {
			InputTokens  int `json:"input_tokens"`
			OutputTokens int `json:"output_tokens"`
			Samples      int `json:"samples"`
			Calls        int `json:"calls"`
		} `json:"usage"`
	} `json:"conversations"`
}

type historyResult struct {
	Entries []struct {
		Role        string  `json:"role"`
		Text        *string `json:"text"`
		Attachments []struct {
			Type     string  `json:"type"`
			ImageURL *string `json:"image_url"`
			SHA256   *string `json:"sha256"`
			Bytes    *int    `json:"bytes"`
			Elided   *bool   `json:"elided"`
		} `json:"attachments"`
		From      *string `json:"from"`
		Truncated *bool   `json:"truncated"`
	} `json:"entries"`
	Truncated *bool `json:"truncated"`
}

func strict(text string, v any) error { return json.Unmarshal([]byte(text), v) }

// run is a session whose root makes one call a submission, and whose other conversations answer as they are told.
type run struct {
	t     *testing.T
	state session.State
	ids   int
}

func newRun(t *testing.T) *run {
	t.Helper()
	r := &run{t: t}
	r.step(session.Start{Session: "s", Root: r.id(), Context: session.Context{Capabilities: session.Capabilities{Internal: session.InternalTools{session.ConvTools: true}}}})
	return r
}

func (r *run) id() string {
	r.ids++
	return "00000000-0000-4000-8000-00000000000" + string(rune('0'+r.ids))
}

func (r *run) step(in session.Input) {
	r.t.Helper()
	state, _, _, err := session.Step(r.state, noon, in)
	if err != nil {
		r.t.Fatal(err)
	}
	r.state = state
}

// call has the root call, and the conversation that it asks answer with a text, or fail where it is asked to. It returns
// the output of the call.
func (r *run) call(name string, request session.Request, answer string) string {
	r.t.Helper()
	root := r.state.Root().ID
	r.step(session.Submit{Conversation: root, Input: []session.Part{{Text: "go"}}})
	task, _ := r.state.Running()
	r.step(session.Response{Task: task, Items: []session.Item{{Item: model.Item{Kind: session.ToolCall, CallID: "k", Name: name}, Request: request}}})
	if task, running := r.state.Running(); running != root {
		if send := request.Send; send != nil && *send.Text == "fail" {
			r.step(session.Response{Task: task, Failure: session.Failure{Code: "overloaded", Message: "busy"}})
		} else {
			r.step(session.Response{Task: task, Items: []session.Item{{Item: model.Text(session.AgentMessage, answer)}}})
		}
	}
	task, _ = r.state.Running()
	r.step(session.Response{Task: task})
	items := r.state.Root().Items()
	return items[len(items)-1].Output
}
