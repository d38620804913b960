package gemini

import (
	"github.com/convtools/convtools/runtime/store/internal/jsontext"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
)

// record is a line of a log, or a message in it, or a whole session in one object.
// Strings are as they stand between their quotes, and all of it aliases the line.
type record struct {
	id, kind, stamp             []byte
	content, thoughts, calls    []byte // JSON values
	session, start, chat, title []byte
	messages, directories, set  []byte // JSON values
	rewind                      []byte
	isSet, isRewind, isMessage  bool
}

// parse reads a line. It returns false where that is no JSON object, with the members
// up to there.
func parse(line []byte) (r record, ok bool) {
	ok = jsontext.Object(line, func(key, value []byte) {
		text, _ := jsontext.Unquote(value)
		switch string(key) {
		case "id":
			r.id, r.isMessage = text, true
		case "type":
			r.kind = text
		case "timestamp":
			r.stamp = text
		case "content":
			r.content = value
		case "thoughts":
			r.thoughts = value
		case "toolCalls":
			r.calls = value
		case "sessionId":
			r.session = text
		case "startTime":
			r.start = text
		case "kind":
			r.chat = text
		case "summary":
			r.title = text
		case "messages":
			r.messages = value
		case "directories":
			r.directories = value
		case "$set":
			r.set, r.isSet = value, true
		case "$rewindTo":
			r.rewind, r.isRewind = text, true
		}
	})
	return r, ok
}

func (r *record) is(kind string) bool { return string(r.kind) == kind }

// content is a part of a message's content. Strings are as they stand between their
// quotes.
type content struct {
	text            []byte
	call, response  []byte // JSON values
	thought, isData bool
}

// contents calls each for every part of a content, until that returns false; a string is
// a part with text.
func contents(raw []byte, each func(c *content) bool) {
	if text, ok := jsontext.Unquote(raw); ok {
		each(&content{text: text})
		return
	}
	if len(raw) > 0 && raw[0] == '{' {
		c := parseContent(raw)
		each(&c)
		return
	}
	for part := range jsontext.Elements(raw) {
		c := parseContent(part)
		if text, ok := jsontext.Unquote(part); ok {
			c.text = text
		}
		if !each(&c) {
			return
		}
	}
}

func parseContent(raw []byte) (c content) {
	for m := range jsontext.Members(raw) {
		switch string(m.Key) {
		case "text":
			c.text, _ = jsontext.Unquote(m.Value)
		case "thought":
			c.thought = string(m.Value) == "true"
		case "functionCall":
			c.call = m.Value
		case "functionResponse":
			c.response = m.Value
		case "inlineData", "fileData":
			c.isData = true
		}
	}
	return c
}

// call is a call of a tool, with its result where it has one.
type call struct {
	id, name, status, stamp []byte // as they stand between their quotes
	args, result            []byte // JSON values
}

func parseCall(raw []byte) (c call) {
	for m := range jsontext.Members(raw) {
		text, _ := jsontext.Unquote(m.Value)
		switch string(m.Key) {
		case "id":
			c.id = text
		case "name":
			c.name = text
		case "status":
			c.status = text
		case "timestamp":
			c.stamp = text
		case "args":
			c.args = m.Value
		case "result":
			c.result = m.Value
		}
	}
	return c
}

// response is what a tool returned.
type response struct {
	id, name []byte
	value    []byte // JSON value
}

func parseResponse(raw []byte) (r response) {
	for m := range jsontext.Members(raw) {
		text, _ := jsontext.Unquote(m.Value)
		switch string(m.Key) {
		case "id":
			r.id = text
		case "name":
			r.name = text
		case "response":
			r.value = m.Value
		}
	}
	return r
}

// isInjected reports whether a text, as it stands between its quotes, is one that the
// program writes in the name of the user.
func isInjected(raw []byte) bool {
	return recorded.Begins(raw,
		"<session_context>", "<hook_context>", snapshotMark, "This is the Gemini CLI. We are setting up the context")
}

// snapshotMark begins the summary of what was compressed.
const snapshotMark = "<state_snapshot>"

// isCommand reports whether a text, as it stands between its quotes, is a command to the
// program.
func isCommand(raw []byte) bool { return len(raw) > 0 && (raw[0] == '/' || raw[0] == '?') }

// isSnapshot reports whether a message is the summary of what was compressed.
func (r *record) isSnapshot() bool {
	found := false
	contents(r.content, func(c *content) bool {
		found = recorded.Begins(c.text, snapshotMark)
		return false
	})
	return r.is("user") && found
}
