package session

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// The outputs of the five tools: JSON objects in a string.

const contentOK = `{"ok":true}`

// timeFormat is RFC 3339 to the millisecond.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// object returns a struct of strings, numbers and lists of such, which always has a JSON form.
func object(v any) string {
	text, _ := model.JSON(v)
	return string(text)
}

// Content returns a refusal as the output of a call.
func (r *Refusal) Content() string {
	return object(struct {
		OK bool `json:"ok"`
		Refusal
	}{false, *r})
}

// answerContent is the output of conv.create and conv.send. A status that is not of a completed
// logical turn has ok, code and reason as well.
type answerContent struct {
	OK                   *bool   `json:"ok,omitempty"`
	Code                 Code    `json:"code,omitempty"`
	Reason               string  `json:"reason,omitempty"`
	ConversationID       string  `json:"conversation_id"`
	FirstUserMessage     *string `json:"first_user_message,omitempty"`
	FirstItemsCount      int     `json:"first_items_count,omitempty"`
	LastAssistantMessage string  `json:"last_assistant_message"`
	Status               Status  `json:"status"`
	Error                Failure `json:"error,omitzero"`
	Truncated            bool    `json:"truncated,omitempty"`
}

// outputOf returns the output of the call of a frame that is resolved.
func (s State) outputOf(f Frame) Item {
	r := *f.Result
	content := answerContent{ConversationID: f.Target, Status: r.Status}
	if r.Failure.Code != "" {
		content.Error = r.Failure
	}
	content.LastAssistantMessage, content.Truncated = cut(r.Message, s.config.MaxResultBytes)
	if request := f.Call.Request.Create; request != nil {
		content.FirstUserMessage, content.FirstItemsCount = request.UserInstruction, len(request.Items)
	}
	success := r.Status == StatusCompleted || r.Status == StatusNoMessage
	if !success {
		content.OK, content.Code = new(bool), Code(r.Status)
		content.Reason = map[Status]string{
			StatusFailed:      "the conversation could not answer",
			StatusInterrupted: "the call was interrupted before it had a result",
			StatusDestroyed:   "the conversation was destroyed before it had answered",
		}[r.Status]
	}
	return output(f.Call, object(content), success)
}

// output returns the output of a call.
func output(call Item, content string, success bool) Item {
	return Item{
		Item:   model.Item{Kind: ToolOutput, CallID: call.CallID, Name: call.Name, Output: content, Failed: !success},
		Origin: FromTool,
	}
}

// cut returns at most limit bytes of a text, whole characters, and reports whether something is missing.
func cut(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	return strings.ToValidUTF8(s[:limit], ""), true
}

type listEntry struct {
	ID           string `json:"id"`
	MessageCount int    `json:"message_count"`
	LastActiveAt string `json:"last_active_at"`
	State        string `json:"state"` // running, suspended, queued or idle
	ParentID     string `json:"parent_id,omitempty"`
	IsRoot       bool   `json:"is_root,omitempty"`
	IsSelf       bool   `json:"is_self,omitempty"`
	Title        string `json:"title,omitempty"`
	Usage        Usage  `json:"usage"` // of its own samples and calls
}

// listContent is the output of conv.list, in the order of creation.
func (s State) listContent(caller string) string {
	entries := []listEntry{}
	for _, c := range s.conversations {
		if c.Destroyed {
			continue
		}
		entries = append(entries, listEntry{
			ID: c.ID, MessageCount: c.Messages, LastActiveAt: c.LastActive.Format(timeFormat), State: s.Doing(c.ID),
			ParentID: c.Parent, IsRoot: c.Parent == "", IsSelf: c.ID == caller, Title: c.Title, Usage: c.Usage,
		})
	}
	return object(struct {
		Conversations []listEntry `json:"conversations"`
	}{entries})
}

type historyEntry struct {
	Role        string       `json:"role"`
	Text        *string      `json:"text,omitempty"`
	Attachments []attachment `json:"attachments"`
	From        string       `json:"from,omitempty"`
	Truncated   bool         `json:"truncated,omitempty"`
}

type attachment struct {
	Type     string `json:"type"`
	ImageURL string `json:"image_url,omitempty"`
	SHA256   string `json:"sha256,omitempty"` // of the address of an image that is left out
	Bytes    int    `json:"bytes,omitempty"`
	Elided   bool   `json:"elided,omitempty"`
}

// historyContent is the output of conv.history: the last messages, in the order of time. A message that
// does not fit is left out with all before it; of the last one, as much of the text as fits is kept.
func (s State) historyContent(c *Conversation, limit *int) string {
	entries, truncated := []historyEntry{}, false
	room := s.config.MaxHistoryBytes
	for recorded := range c.Latest() {
		if limit != nil && len(entries) == *limit {
			break
		}
		if !recorded.message() {
			continue
		}
		entry, size := s.historyEntry(recorded.Item)
		if size > room {
			truncated = true
			if len(entries) > 0 {
				break
			}
			entry.Attachments = []attachment{}
			if entry.Text != nil {
				short, _ := cut(*entry.Text, room)
				entry.Text = &short
			}
			entry.Truncated = true
			size = room
		}
		room -= size
		entries = append(entries, entry)
	}
	slices.Reverse(entries)
	return object(struct {
		Entries   []historyEntry `json:"entries"`
		Truncated bool           `json:"truncated,omitempty"`
	}{entries, truncated})
}

// historyEntry returns what conv.history shows of a message, and how many bytes of it are recorded content.
func (s State) historyEntry(item Item) (historyEntry, int) {
	entry := historyEntry{Role: "user", Attachments: []attachment{}, From: item.From}
	if item.Kind == AgentMessage {
		entry.Role = "assistant"
	}
	size := 0
	for _, p := range item.Parts {
		if p.ImageURL == "" {
			continue
		}
		shown := attachment{Type: "image", ImageURL: p.ImageURL}
		if strings.HasPrefix(p.ImageURL, "data:") && len(p.ImageURL) > s.config.MaxInlineImageBytes {
			sum := sha256.Sum256([]byte(p.ImageURL))
			shown = attachment{Type: "image", SHA256: hex.EncodeToString(sum[:]), Bytes: len(p.ImageURL), Elided: true}
		}
		size += len(shown.ImageURL) + len(shown.SHA256)
		entry.Attachments = append(entry.Attachments, shown)
	}
	if text := item.Text(); text != "" || len(entry.Attachments) == 0 {
		entry.Text = &text
		size += len(text)
	}
	return entry, size
}
