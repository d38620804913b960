package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// recorded is a conversation as [decode] reads it. decode shares no code with
// convtools, so a mistake of convtools is not in it.
type recorded struct {
	id       string
	dir      string // name of its directory
	title    string
	archived bool
	events   []event
}

// event is something that was said, called or returned.
type event struct {
	turn int
	who  string // user, assistant, reasoning, or what the files call it
	text string
}

// decode reads the conversations of a workspace, the archived ones last.
func decode(workspace string) ([]recorded, error) {
	var conversations []recorded
	for _, parent := range []string{"", ".archive"} {
		files, err := filepath.Glob(filepath.Join(workspace, ".jp", "conversations", parent, "*", "events.json"))
		if err != nil {
			return nil, fmt.Errorf("finding conversations: %w", err)
		}
		for _, file := range files {
			c, err := decodeOne(file)
			if err != nil {
				return nil, err
			}
			c.archived = parent != ""
			conversations = append(conversations, c)
		}
	}
	return conversations, nil
}

// decodeOne reads the conversation of a file of events.
func decodeOne(file string) (recorded, error) {
	dir := filepath.Dir(file)
	number, _, _ := strings.Cut(filepath.Base(dir), "-")
	c := recorded{id: "jp-c" + number, dir: filepath.Base(dir)}
	var metadata struct{ Title string }
	data, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
	if err != nil {
		return c, fmt.Errorf("reading metadata: %w", err)
	}
	if err := json.Unmarshal(data, &metadata); err != nil {
		return c, fmt.Errorf("reading metadata of %s: %w", c.id, err)
	}
	c.title = metadata.Title

	f, err := os.Open(file)
	if err != nil {
		return c, fmt.Errorf("reading events: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	d := json.NewDecoder(f)
	if _, err := d.Token(); err != nil {
		return c, fmt.Errorf("reading events of %s: %w", c.id, err)
	}
	turn := 0
	for d.More() {
		var e struct {
			Type      string
			Content   string
			Message   *string
			Reasoning *string
			Name      string
			Arguments any
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) { // a damaged file has what stands before the damage
				break
			}
			return c, fmt.Errorf("reading events of %s: %w", c.id, err)
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			return c, fmt.Errorf("reading an event of %s: %w", c.id, err)
		}
		decoded := event{turn: max(turn, 1), who: e.Type, text: string(raw)}
		switch {
		case e.Type == "turn_start":
			turn++
			continue
		case e.Type == "config_delta":
			continue
		case e.Type == "chat_request":
			decoded.who, decoded.text = "user", e.Content
		case e.Message != nil:
			decoded.who, decoded.text = "assistant", *e.Message
		case e.Reasoning != nil:
			decoded.who, decoded.text = "reasoning", *e.Reasoning
		case e.Type == "tool_call_request":
			decoded.text = e.Name + " " + plain(e.Arguments)
		case e.Type == "tool_call_response":
			decoded.text = unbase64(e.Content)
		}
		c.events = append(c.events, decoded)
	}
	return c, nil
}

// plain returns decoded arguments as text: a name and a value on a line, and long
// values as they are.
func plain(value any) string {
	switch v := value.(type) {
	case string:
		return unbase64(v)
	case map[string]any:
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(&b, "\n%s: %s", name, plain(v[name]))
		}
		return b.String()
	case []any:
		var b strings.Builder
		for _, item := range v {
			b.WriteString(" " + plain(item))
		}
		return b.String()
	}
	return fmt.Sprint(value)
}

// unbase64 decodes base64 of either alphabet, and returns other text as it is.
func unbase64(s string) string {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		if decoded, err := encoding.DecodeString(s); err == nil {
			return string(decoded)
		}
	}
	return s
}
