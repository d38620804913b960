// Package program is a model that runs a command for each response, such as the exec mode of another agent.
//
// The command gets the request on standard input and writes the answer to standard output. It ends with exit code 0;
// any other is an error, which shows the beginning and the end of standard error. It is started without a shell, in a process
// group of its own, and that group is killed when the request is cancelled or takes too long. Tools are not offered to
// it: the answer is a text.
//
// As text, which is the default, the input is the instructions, if there are any, and then the history. One with a
// single message is that message. A longer one has a line before each message that names whose it is:
//
//	# user
//	What is the capital of France?
//
//	# assistant
//	Paris.
//
//	# user
//	And of Spain?
//
// As JSON, it is one object on one line:
//
//	{"model":"NAME","instructions":"…","messages":[{"role":"user","text":"…","images":["data:…"]},{"role":"assistant","text":"…"}],"max_output_tokens":4096}
//
// where role is user, assistant, or tool for the output of a tool that another model had called in the same
// conversation; instructions, images and max_output_tokens are left out where there are none.
//
// The output is the answer as it is, which is the default, or JSON objects, one after the other, as jp --format=json query
// prints them: those with the type chat_response have a piece of the answer in message, and others are ignored.
package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/process"
)

// Options is a command.
type Options struct {
	Name    string   // what the configuration calls the model
	Command []string // the program and its arguments
	Env     []string // the whole environment, as NAME=value; nil is [process.DefaultEnv]
	JSON    bool     // the input is JSON
	Events  bool     // the output is JSON
	Timeout time.Duration
	Runner  process.Runner // nil is [process.Exec]
}

// DefaultTimeout is how long a command may take where the options have no limit.
const DefaultTimeout = 30 * time.Minute

// maxAnswer is how many bytes a command may print.
const maxAnswer = 16 << 20

// Model runs a command for each response. It implements [model.Model].
type Model struct{ options Options }

// New returns a model. Nothing is run before it is asked.
func New(o Options) *Model {
	if o.Runner == nil {
		o.Runner = process.Exec{}
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	return &Model{options: o}
}

// Sample implements [model.Model]. The usage is not known.
func (m *Model) Sample(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	o := m.options
	input, err := m.input(r)
	if err != nil {
		return model.Response{}, &model.Error{Model: o.Name, Code: model.CodeProgram, Message: "writing the request: " + err.Error(), Err: err}
	}
	result, err := o.Runner.Run(ctx, process.Command{
		Path: o.Command[0], Args: o.Command[1:], Env: o.Env, Stdin: input,
		Limits: process.Limits{Timeout: o.Timeout, Stdout: maxAnswer},
	})
	if ctx.Err() != nil {
		return model.Response{}, context.Cause(ctx)
	}
	failure := &model.Error{Model: o.Name, Code: model.CodeProgram, Attempts: 1}
	if stopped := (*process.Error)(nil); errors.As(err, &stopped) {
		failure.Message, failure.Err = stopped.ForModel(), err
		switch stopped.Kind {
		case process.NotFound, process.NotExecutable, process.BadArgument:
			failure.Code = model.CodeConfiguration
		case process.Timeout:
			failure.Code = model.CodeStalled
		case process.OutputTooLarge:
			failure.Code = model.CodeTooLarge
		}
		return model.Response{}, failure
	}
	if result.ExitCode != 0 {
		failure.Message = fmt.Sprintf("the command ended with exit code %d", result.ExitCode)
		if said := strings.Join(strings.Fields(string(result.Stderr)), " "); said != "" {
			failure.Message += " (on stderr: " + text.Line(text.CutMiddle(said, maxShown)) + ")"
		}
		return model.Response{}, failure
	}
	answer := string(result.Stdout)
	if o.Events {
		if answer, err = said(result.Stdout); err != nil {
			failure.Message, failure.Err = "what the command prints is not JSON: "+text.Line(text.Cut(err.Error(), maxShown)), err
			return model.Response{}, failure
		}
	}
	answer = strings.TrimRight(strings.ToValidUTF8(answer, "\ufffd"), "\r\n")
	if answer == "" {
		return model.Response{}, nil
	}
	if delta != nil {
		delta(answer)
	}
	return model.Response{Items: []model.Item{model.Text(model.AgentMessage, answer)}}, nil
}

// said joins the pieces of the answer in a sequence of JSON objects. An object of another type between two pieces separates
// them by an empty line.
func said(stdout []byte) (string, error) {
	var answer strings.Builder
	apart := false
	for decoder := json.NewDecoder(bytes.NewReader(stdout)); ; {
		var e struct {
			Type    string  `json:"type"`
			Message *string `json:"message"`
		}
		switch err := decoder.Decode(&e); {
		case err == io.EOF:
			return answer.String(), nil
		case err != nil:
			return "", err
		case e.Type == "chat_response" && e.Message != nil:
			if apart && answer.Len() > 0 {
				answer.WriteString("\n\n")
			}
			apart = false
			answer.WriteString(*e.Message)
		case e.Type != "chat_response":
			apart = true
		}
	}
}

// maxShown is how many characters of what a command has said are shown.
const maxShown = 300

// prompt is what a command reads as JSON.
type prompt struct {
	Model           string    `json:"model"`
	Instructions    string    `json:"instructions,omitempty"`
	Messages        []message `json:"messages"`
	MaxOutputTokens int64     `json:"max_output_tokens,omitempty"`
}

type message struct {
	Role   string   `json:"role"`
	Text   string   `json:"text"`
	Images []string `json:"images,omitempty"`
}

// input returns what the command reads.
func (m *Model) input(r model.Request) ([]byte, error) {
	p := prompt{Model: m.options.Name, Messages: messages(r.Items), MaxOutputTokens: r.MaxOutputTokens}
	if r.Instructions != nil {
		p.Instructions = *r.Instructions
	}
	if m.options.JSON {
		encoded, err := json.Marshal(p)
		return append(encoded, '\n'), err
	}
	var b strings.Builder
	if p.Instructions != "" {
		b.WriteString(p.Instructions + "\n\n")
	}
	for i, said := range p.Messages {
		if len(p.Messages) > 1 {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString("# " + said.Role + "\n")
		}
		b.WriteString(strings.TrimRight(said.Text, "\n") + "\n")
	}
	return []byte(b.String()), nil
}

func messages(items []model.Item) []message {
	said := []message{}
	for _, item := range items {
		m := message{Role: "assistant", Text: item.Text()}
		switch item.Kind {
		case model.Reasoning:
			continue
		case model.UserMessage:
			m.Role = "user"
		case model.ToolCall:
			m.Text = "(calls " + item.Name + " with " + item.Arguments + ")"
		case model.ToolOutput:
			m.Role, m.Text = "tool", item.Output
		}
		for _, p := range item.Parts {
			if p.ImageURL != "" {
				m.Images = append(m.Images, p.ImageURL)
			}
		}
		said = append(said, m)
	}
	return said
}
