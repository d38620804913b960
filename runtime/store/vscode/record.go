package vscode

import (
	"cmp"
	"path"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// chat is a recorded chat.
type chat struct {
	Title    string    `json:"customTitle"`
	Created  int64     `json:"creationDate"`
	Requests []request `json:"requests"`
}

// request is a request with its answer.
type request struct {
	At       int64        `json:"timestamp"`
	Message  jsontext.Raw `json:"message"`               // a text, or an object with one
	Response jsontext.Raw `json:"response"`              // parts
	Removed  jsontext.Raw `json:"shouldBeRemovedOnSend"` // the user took it back
	Result   struct {
		Metadata struct {
			Rounds  []round      `json:"toolCallRounds"`
			Results jsontext.Raw `json:"toolCallResults"` // an object, by the ids of the calls
		} `json:"metadata"`
	} `json:"result"`
}

// round is what the model said and called at once, as Copilot records it beside the parts of the answer.
type round struct {
	At       int64        `json:"timestamp"`
	Response jsontext.Raw `json:"response"`
	Thinking struct {
		Text jsontext.Raw `json:"text"`
	} `json:"thinking"`
	Calls []struct {
		ID        string       `json:"id"`
		Name      string       `json:"name"`
		Arguments jsontext.Raw `json:"arguments"` // a text
	} `json:"toolCalls"`
}

// part is a part of an answer. One without a kind is Markdown.
type part struct {
	Kind      string       `json:"kind"`
	Value     jsontext.Raw `json:"value"`
	Content   jsontext.Raw `json:"content"`
	Name      string       `json:"name"` // of a reference
	Reference jsontext.Raw `json:"inlineReference"`
	URI       jsontext.Raw `json:"uri"` // of edits
	Edits     jsontext.Raw `json:"edits"`
	// of a call
	Call     string       `json:"toolCallId"`
	Tool     string       `json:"toolId"`
	Complete bool         `json:"isComplete"`
	Past     jsontext.Raw `json:"pastTenseMessage"`
	Specific struct {
		Input   jsontext.Raw `json:"rawInput"`
		Old     string       `json:"command"` // as before 1.102
		Prompt  string       `json:"prompt"`  // of a sub-agent, as the result is
		Result  []byte       `json:"result"`
		Command struct {
			Original string `json:"original"`
		} `json:"commandLine"`
		Output jsontext.Raw `json:"terminalCommandOutput"`
		State  struct {
			Exit int64 `json:"exitCode"`
		} `json:"terminalCommandState"`
	} `json:"toolSpecificData"`
	Details struct {
		Input   []byte       `json:"input"`
		Output  jsontext.Raw `json:"output"`
		IsError bool         `json:"isError"`
	} `json:"resultDetails"`
}

// record adds the events of the chat to a recorder, without those of requests that the user took back.
func (c *chat) record(to *history.Recorder) {
	for i := range c.Requests {
		r := &c.Requests[i]
		if r.Removed != nil && string(r.Removed) != "null" {
			continue
		}
		to.AddText(transcript.KindUser, history.Moment(r.At), text(r.Message))
		if slices.ContainsFunc(r.Result.Metadata.Rounds, func(r round) bool { return len(r.Calls) > 0 }) {
			r.recordRounds(to)
		} else {
			r.recordParts(to)
		}
	}
}

// recordRounds adds the events of the answer to a recorder, from its rounds. Rounds have the arguments and the
// results of calls; parts have only what VS Code shows of calls.
func (r *request) recordRounds(to *history.Recorder) {
	results := map[string]jsontext.Raw{}
	for m := range jsontext.Members(r.Result.Metadata.Results) {
		results[string(jsontext.Unescape(m.Key))] = m.Value
	}
	for _, round := range r.Result.Metadata.Rounds {
		at := history.Moment(cmp.Or(round.At, r.At))
		to.AddText(transcript.KindReasoning, at, text(round.Thinking.Text))
		to.AddText(transcript.KindAssistant, at, text(round.Response))
		for _, c := range round.Calls {
			to.Add(history.Call(at, c.Name, c.ID, text(c.Arguments)))
			if result, ok := results[c.ID]; ok {
				to.Add(transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: c.ID, Text: text(result)})
			}
		}
	}
}

// recordParts adds the events of the answer to a recorder, from its parts. A text can be several parts: Markdown,
// and references between.
func (r *request) recordParts(to *history.Recorder) {
	at := history.Moment(r.At)
	var markdown []byte
	endText := func() {
		to.AddText(transcript.KindAssistant, at, markdown)
		markdown = nil
	}
	for raw := range jsontext.Elements(r.Response) {
		var p part
		if raw[0] == '"' {
			p.Value = raw
		}
		jsontext.Decode(raw, &p)
		switch p.Kind {
		case "", "markdownContent", "markdownVuln":
			markdown = append(append(markdown, text(p.Value)...), text(p.Content)...)
		case "inlineReference":
			markdown = append(markdown, cmp.Or(p.Name, path.Base(pathOf(p.Reference)))...)
		case "thinking":
			endText()
			to.AddText(transcript.KindReasoning, at, text(p.Value))
		case "toolInvocationSerialized":
			endText()
			p.recordCall(to, at)
		case "textEditGroup":
			endText()
			to.Add(history.Call(at, p.Kind, "", history.Object("path", pathOf(p.URI), "new_text", string(text(p.Edits)))))
		}
	}
	endText()
}

// recordCall adds a call and its result to a recorder, as far as VS Code shows them.
func (p *part) recordCall(to *history.Recorder, at time.Time) {
	d := &p.Specific
	arguments := []byte(d.Input)
	switch {
	case arguments != nil:
	case cmp.Or(d.Command.Original, d.Old) != "":
		arguments = history.Object("command", cmp.Or(d.Command.Original, d.Old))
	case d.Prompt != "":
		arguments = history.Object("prompt", d.Prompt)
	default:
		arguments = p.Details.Input
	}
	to.Add(history.Call(at, p.Tool, p.Call, arguments))
	if !p.Complete {
		return
	}
	said := history.First(text(d.Output), d.Result, text(p.Details.Output), text(p.Past))
	to.Add(transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: p.Call, Failed: p.Details.IsError || d.State.Exit != 0, Text: said})
}

// pathOf returns the path in the address of a file.
func pathOf(uri jsontext.Raw) string { return jsontext.String(jsontext.Get(uri, "path")) }

// text returns the texts in a JSON value, each on lines of its own. A string is a text, an array has the texts in its
// elements, and an object has the texts in its members "value", "text", "content", "node" and "children".
func text(value jsontext.Raw) []byte {
	const maxLevels = 64
	return history.Join(texts(value, maxLevels))
}

// texts returns the texts that [text] joins. It looks only into the given number of levels of arrays and objects.
func texts(value jsontext.Raw, levels int) (all [][]byte) {
	if quoted, ok := jsontext.Unquote(value); ok {
		return [][]byte{jsontext.Unescape(quoted)}
	}
	if levels == 0 {
		return nil
	}
	for element := range jsontext.Elements(value) {
		all = append(all, texts(element, levels-1)...)
	}
	for m := range jsontext.Members(value) {
		switch string(m.Key) {
		case "value", "text", "content", "node", "children":
			all = append(all, texts(m.Value, levels-1)...)
		}
	}
	return all
}
