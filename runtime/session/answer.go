package session

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/model"
)

// timeFormat is RFC 3339 with milliseconds.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// jsonText returns an output as JSON. Outputs have strings, numbers and lists, which always have a JSON form.
func jsonText(v any) string {
	text, _ := model.JSON(v)
	return string(text)
}

// optional returns a pointer to a value, or nil for the zero value, which is left out of the JSON.
func optional[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// Content returns the refusal as the output of a call.
func (r *Refusal) Content() string {
	return jsonText(struct {
		OK bool `json:"ok"`
		Refusal
	}{false, *r})
}

// outputOf returns the output of a frame's call, made from the frame's result: a success if the turn was completed.
func (s State) outputOf(f frame) Item {
	r := *f.result
	message, truncated := cut(r.Message, s.config.MaxResultBytes)
	answer := conv.CreateResult{ConversationID: f.call.Target(), LastAssistantMessage: message, Status: string(r.Status), Truncated: optional(truncated)}
	if r.Failure.Code != "" {
		answer.Error = &conv.CreateResultError{Code: string(r.Failure.Code), Message: r.Failure.Message}
	}
	if request := f.call.Request.Create; request != nil {
		answer.FirstUserMessage, answer.FirstItemsCount = request.UserInstruction, optional(len(request.Items))
	}
	if r.Status == StatusCompleted || r.Status == StatusNoMessage {
		return outputItem(f.call, jsonText(answer), true)
	}
	reasons := map[Status]string{
		StatusFailed:      "the conversation could not answer",
		StatusInterrupted: "the call was interrupted before it had a result",
		StatusDestroyed:   "the conversation was destroyed before it had answered",
	}
	return outputItem(f.call, jsonText(struct {
		OK     bool   `json:"ok"`
		Code   Status `json:"code"`
		Reason string `json:"reason"`
		conv.CreateResult
	}{false, r.Status, reasons[r.Status], answer}), false)
}

// outputItem returns the item that is the output of a call.
func outputItem(call Item, content string, success bool) Item {
	output := model.Item{Kind: ToolOutput, CallID: call.CallID, Name: call.Name, Output: content, Failed: !success}
	return Item{Item: output, Origin: FromTool}
}

// cut returns the beginning of a text, at most limit bytes in whole characters, and whether anything is cut off.
func cut(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	return strings.ToValidUTF8(s[:limit], ""), true
}

// listContent returns the output of conv.list for a caller: the conversations that are not destroyed, oldest first.
func (s State) listContent(caller string) string {
	list := conv.ListResult{Conversations: []conv.ListResultConversation{}}
	for _, c := range s.conversations {
		if c.Destroyed {
			continue
		}
		list.Conversations = append(list.Conversations, conv.ListResultConversation{
			ID: c.ID, MessageCount: c.Messages, LastActiveAt: c.LastActive.Format(timeFormat), State: s.Doing(c.ID),
			ParentID: optional(c.Parent), IsRoot: optional(c.Parent == ""), IsSelf: optional(c.ID == caller), Title: optional(c.Title),
			Usage: conv.ListResultConversationUsage{
				InputTokens: int(c.Usage.InputTokens), OutputTokens: int(c.Usage.OutputTokens), Samples: int(c.Usage.Samples), Calls: int(c.Usage.Calls),
			},
		})
	}
	return jsonText(list)
}

// historyContent returns the output of conv.history: the newest messages that have room, at most limit, oldest first. If
// the newest message alone has no room, its text is cut and its images are left out.
func (s State) historyContent(c *Conversation, limit *int) string {
	history := conv.HistoryResult{Entries: []conv.HistoryResultEntry{}}
	room := s.config.MaxHistoryBytes
	for recorded := range c.Latest() {
		if limit != nil && len(history.Entries) == *limit {
			break
		}
		if !recorded.shown() {
			continue
		}
		entry, size := s.historyEntry(recorded.Item)
		if size > room {
			history.Truncated = optional(true)
			if len(history.Entries) > 0 { // entry is not the newest
				break
			}
			entry.Attachments = []conv.HistoryResultEntryAttachment{}
			if entry.Text != nil {
				*entry.Text, _ = cut(*entry.Text, room)
			}
			entry.Truncated = optional(true)
			size = room
		}
		room -= size
		history.Entries = append(history.Entries, entry)
	}
	slices.Reverse(history.Entries)
	return jsonText(history)
}

// historyEntry returns a message as conv.history shows it, and the bytes of its texts and images.
func (s State) historyEntry(item Item) (entry conv.HistoryResultEntry, size int) {
	entry = conv.HistoryResultEntry{Role: "user", Attachments: []conv.HistoryResultEntryAttachment{}, From: optional(item.From)}
	if item.Kind == AgentMessage {
		entry.Role = "assistant"
	}
	for _, p := range item.Parts {
		if p.ImageURL == "" {
			continue
		}
		shown := conv.HistoryResultEntryAttachment{Type: "image"}
		if strings.HasPrefix(p.ImageURL, "data:") && len(p.ImageURL) > s.config.MaxInlineImageBytes {
			sum := sha256.Sum256([]byte(p.ImageURL))
			shown.Sha256, shown.Bytes, shown.Elided = optional(hex.EncodeToString(sum[:])), optional(len(p.ImageURL)), optional(true)
			size += 2 * len(sum) // in hexadecimal
		} else {
			shown.ImageURL = &p.ImageURL
			size += len(p.ImageURL)
		}
		entry.Attachments = append(entry.Attachments, shown)
	}
	if text := item.Text(); text != "" || len(entry.Attachments) == 0 {
		entry.Text = &text
		size += len(text)
	}
	return entry, size
}
