package gemini

import (
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// record is a line of a log, or a message in it, or a whole session in one object.
// Strings are as they stand between their quotes, and all of it aliases the line.
type record struct {
	id, kind, stamp             []byte
	content, thoughts, calls    []byte // JSON values
	session, start, chat, title []byte
	messages, directories, set  []byte // JSON values
	rewind                      []byte
	isRewind, isMessage         bool
}

// parse reads a line. It returns false where that is no JSON object, with the members
// up to there.
func parse(line []byte) (r record, ok bool) {
	var id, rewind []byte
	ok = jsontext.Read(line,
		jsontext.Value("id", &id), jsontext.Text("type", &r.kind), jsontext.Text("timestamp", &r.stamp),
		jsontext.Value("content", &r.content), jsontext.Value("thoughts", &r.thoughts), jsontext.Value("toolCalls", &r.calls),
		jsontext.Text("sessionId", &r.session), jsontext.Text("startTime", &r.start), jsontext.Text("kind", &r.chat),
		jsontext.Text("summary", &r.title), jsontext.Value("messages", &r.messages), jsontext.Value("directories", &r.directories),
		jsontext.Value("$set", &r.set), jsontext.Value("$rewindTo", &rewind),
	)
	r.isMessage, r.isRewind = id != nil, rewind != nil
	r.id, _ = jsontext.Unquote(id)
	r.rewind, _ = jsontext.Unquote(rewind)
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
	var inline, file []byte
	jsontext.Read(raw,
		jsontext.Text("text", &c.text), jsontext.Is("thought", &c.thought),
		jsontext.Value("functionCall", &c.call), jsontext.Value("functionResponse", &c.response),
		jsontext.Value("inlineData", &inline), jsontext.Value("fileData", &file),
	)
	c.isData = inline != nil || file != nil
	return c
}

// call is a call of a tool, with its result where it has one.
type call struct {
	id, name, status, stamp []byte // as they stand between their quotes
	args, result            []byte // JSON values
}

func parseCall(raw []byte) (c call) {
	jsontext.Read(raw,
		jsontext.Text("id", &c.id), jsontext.Text("name", &c.name), jsontext.Text("status", &c.status),
		jsontext.Text("timestamp", &c.stamp), jsontext.Value("args", &c.args), jsontext.Value("result", &c.result),
	)
	return c
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
