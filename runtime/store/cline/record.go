package cline

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/anthropic"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// about is what is recorded about a session or a task.
type about struct {
	// Of a session.
	Started  time.Time `json:"started_at"`
	Dir      string    `json:"cwd"`
	Prompt   string    `json:"prompt"`
	Metadata struct {
		Title string `json:"title"`
	} `json:"metadata"`
	// Of a task.
	ID        string `json:"id"`
	Workspace string `json:"workspace"`
	FirstDir  string `json:"cwdOnTaskInitialization"`
}

// message is a message of the user or the assistant. Its texts can be parts of the file.
type message struct {
	Role    string       `json:"role"`
	Content jsontext.Raw `json:"content"`
	At      int64        `json:"ts"` // milliseconds since 1970; 0 if it is not recorded
}

// Peek implements [history.Listed]: it sets the metadata of the session or the task, and returns the working directory.
func (e *entry) Peek(_ context.Context, root *history.Root, f *os.File, size int64) (dir string, err error) {
	m, to := &e.Meta, &history.Recorder{}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, min(size, jsonl.MaxLine)))
	if err != nil {
		return "", err
	}
	e.addMessages(to, data)
	m.Note(to)
	a := e.about(root)
	m.Created = a.Started
	if m.Created.IsZero() { // most ids begin with the milliseconds since 1970
		digits, _, _ := strings.Cut(e.session, "_")
		milliseconds, _ := strconv.ParseInt(digits, 10, 64)
		m.Created = history.Moment(milliseconds)
	}
	// A sub-agent has the title of its session in a. A session has its prompt as the title until another is chosen.
	if e.agent == "" && a.Metadata.Title != a.Prompt {
		m.Title = a.Metadata.Title
	}
	m.Dir = cmp.Or(a.Dir, a.Workspace, a.FirstDir, workspaceIn(data))
	return m.Dir, nil
}

// about returns what is recorded about the session or the task, if anything: in its own file, or in the list of tasks.
func (e *entry) about(root *history.Root) (found about) {
	const most = 16 << 20
	data, _ := root.ReadFile(e.About, most) // the file need not exist
	if e.About != taskList {
		jsontext.Decode(data, &found)
		return found
	}
	for task := range jsontext.Elements(bytes.TrimSpace(data)) {
		if a, _ := jsontext.Parse[about](task); a.ID == e.session {
			return a
		}
	}
	return found
}

// workspaceIn returns the directory that the first text about the environment in a task's messages names, or "".
func workspaceIn(data []byte) string {
	for _, title := range []string{"# Current Workspace Directory (", "# Current Working Directory ("} {
		if _, rest, ok := bytes.Cut(data, []byte(title)); ok {
			dir, _, _ := bytes.Cut(rest, []byte(") Files"))
			const most = 4096
			return string(jsontext.Unescape(dir[:min(len(dir), most)]))
		}
	}
	return ""
}

// Decode implements [history.File]: it adds the events of the messages in the file to a recorder.
func (e *entry) Decode(_ context.Context, root *history.Root, to *history.Recorder) error {
	data, err := root.ReadFile(e.File, jsonl.MaxLine)
	if err != nil {
		return fmt.Errorf("reading its messages: %w", err)
	}
	e.addMessages(to, data)
	return nil
}

// addMessages adds the events of the messages in the data of a file to a recorder, up to the first mistake in the JSON.
// A task is an array of messages; a session is an object with the array.
func (e *entry) addMessages(to *history.Recorder, data []byte) {
	to.Agent, to.Inquiry = e.agent != "", "ask_question"
	list := jsontext.Raw(bytes.TrimSpace(data))
	if strings.HasPrefix(e.File, tasksDir+"/") { // a task, in the older form
		to.Inquiry = "ask_followup_question"
	} else {
		var whole struct {
			Messages jsontext.Raw `json:"messages"`
		}
		if !jsontext.Decode(data, &whole) {
			to.Totals.Skipped++
		}
		list = whole.Messages
	}
	for element := range jsontext.Elements(list) {
		m, _ := jsontext.Parse[message](element)
		switch m.Role {
		case "user":
			m.addRequest(to)
		case "assistant":
			m.addAnswer(to)
		default:
			to.Totals.Skipped++
		}
	}
}

// addAnswer adds the texts, the thoughts and the calls of a message of the assistant to a recorder.
func (m *message) addAnswer(to *history.Recorder) {
	for _, b := range anthropic.Blocks(m.Content) {
		switch at := history.Moment(m.At); b.Type {
		case "text":
			to.AddText(transcript.KindAssistant, at, b.Text)
		case "thinking":
			to.AddText(transcript.KindReasoning, at, b.Thinking)
		case "reasoning": // of Roo
			to.AddText(transcript.KindReasoning, at, b.Text)
		case "tool_use":
			to.Add(history.Call(at, b.Name, b.ID, b.Input))
		case "redacted_thinking", "thoughtSignature": // there is nothing to read
		default:
			to.Totals.Skipped++
		}
	}
}

// addRequest adds the events of a message in the name of the user to a recorder: the results of calls, and then one
// prompt with everything that the user said. A call that was written as text has as its result the texts after a title
// such as "[read_file for 'a'] Result:". A text between marks, such as <task> and </task>, is always the user's.
func (m *message) addRequest(to *history.Recorder) {
	isAfterTitle := false // blocks after the title of a result belong to the result
	var prompt [][]byte   // nil stands for a picture or a file
	for _, b := range anthropic.Blocks(m.Content) {
		switch said, isMarked := unmarked(b.Text); {
		case b.Type == "tool_result":
			to.Add(result(&b, m.At))
		case b.Type == "image" || b.Type == "document" || b.Type == "file":
			if !isAfterTitle {
				prompt = append(prompt, nil)
			}
		case b.Type != "text": // the cases below are texts
			to.Totals.Skipped++
		case isMarked:
			prompt = append(prompt, said)
		case isResultTitle(b.Text):
			isAfterTitle = true
			if _, rest, _ := bytes.Cut(b.Text, []byte("Result:")); len(bytes.TrimSpace(rest)) > 0 {
				to.AddText(transcript.KindToolResult, history.Moment(m.At), bytes.TrimSpace(rest))
			}
		case history.Begins(b.Text, "<", "[TASK RESUMPTION]", "[ERROR]", "# "): // the program wrote it
		case isAfterTitle:
			to.AddText(transcript.KindToolResult, history.Moment(m.At), b.Text)
		case len(bytes.TrimSpace(b.Text)) > 0:
			prompt = append(prompt, b.Text)
		}
	}
	to.AddPrompt(history.Moment(m.At), prompt)
}

// unmarked returns the part of a text between marks, such as <task> and </task>, that the program puts around what a
// person said. It returns false if the text has no such marks, or is about the environment.
func unmarked(text []byte) (said []byte, ok bool) {
	if history.Begins(text, "<environment_details>") {
		return nil, false
	}
	for _, mark := range []string{"<user_input mode=", "<user_input>", "<task>", "<feedback>", "<user_message>", "<answer>"} {
		_, rest, begins := bytes.Cut(text, []byte(mark))
		if !strings.HasSuffix(mark, ">") { // the rest of the tag varies
			_, rest, _ = bytes.Cut(rest, []byte(">"))
		}
		name := strings.Trim(strings.TrimSuffix(mark, " mode="), "<>")
		said, _, ends := bytes.Cut(rest, []byte("</"+name+">"))
		if begins && ends {
			return bytes.TrimSpace(said), true
		}
	}
	return nil, false
}

// isResultTitle reports whether a text begins the result of a call in text, such as "[read_file for 'a'] Result:".
func isResultTitle(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.HasPrefix(first, []byte("[")) && bytes.Contains(first, []byte("] Result:"))
}

// result returns the event of a call's results, at ms milliseconds since 1970. It has failed if any result has failed.
func result(b *anthropic.Block, ms int64) transcript.Event {
	type part struct { // a block, or one of several results
		Text    []byte       `json:"text"`
		Result  []byte       `json:"result"`
		Error   []byte       `json:"error"`
		Success jsontext.Raw `json:"success"`
	}
	e := transcript.Event{Kind: transcript.KindToolResult, Time: history.Moment(ms), CallID: b.ToolUseID, Failed: b.IsError}
	var texts [][]byte
	for _, part := range jsontext.Parts(b.Content, func(text []byte) part { return part{Text: text} }) {
		texts = append(texts, history.First(part.Text, part.Result, part.Error))
		e.Failed = e.Failed || string(part.Success) == "false"
	}
	e.Text = history.Join(texts)
	return e
}
