package jp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// New is a conversation that is to be made.
type New struct {
	// Begun is when it began, which its id has.
	Begun  time.Time
	Title  string
	Hidden bool
	Parent transcript.ID // empty for none
	// Label and Value are a label that no other conversation of the workspace has with this value.
	Label, Value string
	// Events are what it has, as [Writer.Append] takes them.
	Events []json.RawMessage
	// Model is the name that the base configuration has for the model.
	Model string
}

// Create makes a live conversation, in the project and in the user's store where that is there, and returns its id. Where
// one with the label is there already, live or archived, it makes none and returns the id of that, and false.
func (wr *Writer) Create(ctx context.Context, n New) (id transcript.ID, made bool, err error) {
	events, err := layEvents(n.Events)
	if err != nil {
		return "", false, err
	}
	if err := CheckLabel(n.Label); err != nil {
		return "", false, err
	}
	c, err := wr.begin(ctx)
	if err != nil {
		return "", false, err
	}
	defer c.end()
	first := number(n.Begun.UnixMilli() / 100)
	if err := c.lockNew(ctx); err != nil {
		return "", false, err
	}
	if id, err := c.labelled(ctx, first, n.Label, n.Value); err != nil || id != "" {
		return id, false, err
	}
	if err := c.sweep(); err != nil {
		return "", false, err
	}
	free, err := c.freeNumber(ctx, first)
	if err != nil {
		return "", false, err
	}
	metadata := &object{indent: "\n  ", end: []byte("\n")}
	metadata.setTime("last_activated_at", n.Begun)
	change := Change{Parent: &n.Parent, Labels: map[string]*string{n.Label: &n.Value}}
	if n.Title != "" {
		change.Title = &n.Title
	}
	if n.Hidden {
		change.Hidden = &n.Hidden
	}
	data, err := c.changed(metadata.bytes(), transcript.Conversation{ID: free.id()}, change)
	if err != nil {
		return "", false, err
	}
	base, err := baseConfig(n.Model)
	if err != nil {
		return "", false, err
	}
	files := []newFile{fileOf(baseConfigFile, base), fileOf(eventsFile, slices.Concat([]byte("["), events, []byte("\n]\n"))), fileOf(metadataFile, data)}
	if err := c.newConversation(free, []int{userStore, projectStore}, dirName(free, n.Title), files); err != nil {
		return "", false, err
	}
	return free.id(), true, nil
}

// maxBegun is how many numbers behind the time at which a conversation began it may have: so many begin at one time.
const maxBegun = 1 << 10

// labelled returns the conversation with a label among those which began not long after a time, or "".
func (c *writing) labelled(ctx context.Context, first number, label, value string) (transcript.ID, error) {
	all, _, err := c.readDirs(ctx, everywhere)
	if err != nil {
		return "", err
	}
	near := slices.DeleteFunc(all, func(f found) bool { return f.number < first || f.number > first+maxBegun })
	places, _ := c.pair(near)
	for _, p := range places {
		_, loaded, err := c.metadata(&p)
		if err != nil {
			continue // it is damaged, and not one that was made here
		}
		if loaded.Labels[label] == value {
			return loaded.ID, nil
		}
	}
	return "", nil
}

// baseConfig is what JP needs to load a conversation: an assistant with a model, and what may be done with tools.
func baseConfig(model string) ([]byte, error) {
	type object = map[string]any
	config := object{
		"assistant": object{"model": object{"id": object{"provider": "ollama", "name": model}}},
		"conversation": object{"tools": object{"*": object{
			"run": "ask", "result": "unattended",
			"style": object{"hidden": false, "inline_results": "full", "results_file_link": "off", "parameters": "json"},
		}}},
	}
	data, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", baseConfigFile, err)
	}
	return append(data, '\n'), nil
}

// NewEvent is an event that is to be added to a conversation.
type NewEvent struct {
	At   time.Time
	Kind transcript.Kind // a turn start, or what a user, an assistant or a tool says
	Text string
	// Name and CallID are those of a tool call, and CallID that of its result.
	Name, CallID string
	Arguments    json.RawMessage // of a tool call, an object
	Failed       bool            // a result
	// Metadata is what JP keeps with the event, and shows to nobody. A turn start has none.
	Metadata map[string]any
}

// JSON returns the event as JP stores it.
func (e NewEvent) JSON() (json.RawMessage, error) {
	fields := map[string]any{"timestamp": formatTimestamp(e.At)}
	switch e.Kind {
	case transcript.KindTurnStart:
		fields["type"] = "turn_start"
	case transcript.KindUser:
		fields["type"], fields["content"] = "chat_request", e.Text
	case transcript.KindAssistant:
		fields["type"], fields["message"] = "chat_response", e.Text
	case transcript.KindToolCall:
		arguments := map[string]any{}
		if len(e.Arguments) > 0 {
			decoder := json.NewDecoder(bytes.NewReader(e.Arguments))
			decoder.UseNumber()
			if err := decoder.Decode(&arguments); err != nil {
				return nil, fmt.Errorf("the arguments of a call: %w", err)
			}
		}
		fields["type"], fields["id"], fields["name"], fields["arguments"] = "tool_call_request", e.CallID, e.Name, encodeTexts(arguments)
	case transcript.KindToolResult:
		fields["type"], fields["id"], fields["content"], fields["is_error"] = "tool_call_response", e.CallID, encodeTexts(e.Text), e.Failed
	default:
		return nil, fmt.Errorf("an event of the kind %d cannot be added", e.Kind)
	}
	if len(e.Metadata) > 0 {
		fields["metadata"] = encodeTexts(e.Metadata)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(fields)
	return b.Bytes(), err
}

// encodeTexts returns a JSON value with each text in it as JP stores it: in base64, but for keys.
func encodeTexts(value any) any {
	switch value := value.(type) {
	case string:
		return base64.StdEncoding.EncodeToString([]byte(value))
	case map[string]any:
		encoded := make(map[string]any, len(value))
		for key, v := range value {
			encoded[key] = encodeTexts(v)
		}
		return encoded
	case []any:
		encoded := make([]any, len(value))
		for i, v := range value {
			encoded[i] = encodeTexts(v)
		}
		return encoded
	}
	return value
}
