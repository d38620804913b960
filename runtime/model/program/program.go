// Package program is a model that runs a command for each response, such as another agent.
//
// The command reads the request from standard input and writes the answer to standard output. A nonzero exit code is an
// error, which shows both ends of standard error. The command runs without a shell in a process group of its own; the
// group is killed when the request is cancelled or takes too long. The command is offered no tools.
//
// The input is text by default: the instructions, if any, then the history, with an empty line between messages. In a
// history of more than one message, each message has the line "# user", "# assistant" or "# tool" above it.
//
// JSON input is one object on one line:
//
//	{"model":"NAME","instructions":"…","messages":[{"role":"user","text":"…","images":["data:…"]},{"role":"assistant","text":"…"}],"max_output_tokens":4096}
//
// where role is user, assistant, or tool for the output of a tool that another model called. Empty instructions, images
// and max_output_tokens are left out.
//
// The output is the answer by default. JSON output is a sequence of objects, as jp --format=json query prints them: an
// object with type chat_response has a piece of the answer in message; others are ignored.
package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/process"
)

// Model is a table [model.NAME] with a command. It implements [model.Model].
type Model struct {
	Name   string
	Config config.Model
	Runner process.Runner
}

const (
	defaultTimeout = 30 * time.Minute // of the command
	maxAnswer      = 16 << 20         // bytes of standard output
	maxShown       = 300              // characters of standard error, or of an error in JSON, in an error
)

// Sample implements [model.Model]. The response has no usage.
func (m Model) Sample(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	answer, err := m.runCommand(ctx, r)
	answer = strings.TrimRight(strings.ToValidUTF8(answer, "\ufffd"), "\r\n")
	switch {
	case ctx.Err() != nil:
		return model.Response{}, context.Cause(ctx)
	case err != nil:
		return model.Response{}, m.modelError(err)
	case answer == "":
		return model.Response{}, nil
	}
	delta(answer)
	return model.Response{Items: []model.Item{model.Text(model.AgentMessage, answer)}}, nil
}

// runCommand runs the command with a request and returns the answer that the command prints. An exit code other than 0
// is an error, with the beginning and the end of standard error.
func (m Model) runCommand(ctx context.Context, r model.Request) (string, error) {
	result, err := m.Runner.Run(ctx, process.Command{
		Path: m.Config.Command[0], Args: m.Config.Command[1:], Env: process.DefaultEnv(m.Config.PassEnv...), Stdin: m.stdin(r),
		Limits: process.Limits{Timeout: cmp.Or(m.Config.Timeout, defaultTimeout), Stdout: maxAnswer},
	})
	switch {
	case err != nil:
		return "", err
	case result.ExitCode != 0:
		message := fmt.Sprintf("the command ended with exit code %d", result.ExitCode)
		if stderr := strings.Join(strings.Fields(string(result.Stderr)), " "); stderr != "" {
			message += " (on stderr: " + text.Line(text.CutMiddle(stderr, maxShown)) + ")"
		}
		return "", errors.New(message)
	case m.Config.Output == "json":
		return joinPieces(result.Stdout)
	}
	return string(result.Stdout), nil
}

// modelError returns the [*model.Error] for an error of the command.
func (m Model) modelError(err error) error {
	failure := &model.Error{Model: m.Name, Code: model.CodeProgram, Message: err.Error(), Attempts: 1}
	if stopped, ok := errors.AsType[*process.Error](err); ok {
		codes := map[process.Kind]model.Code{
			process.NotFound: model.CodeConfiguration, process.NotExecutable: model.CodeConfiguration, process.BadArgument: model.CodeConfiguration,
			process.Timeout: model.CodeStalled, process.OutputTooLarge: model.CodeTooLarge,
		}
		failure.Code, failure.Message = cmp.Or(codes[stopped.Kind], failure.Code), stopped.ForModel()
	}
	return failure
}

// joinPieces returns the answer in JSON output: the messages of all objects with type chat_response. Where objects of
// another type are between two messages, an empty line separates these messages.
func joinPieces(stdout []byte) (string, error) {
	var answer strings.Builder
	separator := ""
	for decoder := json.NewDecoder(bytes.NewReader(stdout)); ; {
		var object struct{ Type, Message string }
		switch err := decoder.Decode(&object); {
		case err == io.EOF:
			return answer.String(), nil
		case err != nil:
			return "", errors.New("what the command prints is not JSON: " + text.Line(text.Cut(err.Error(), maxShown)))
		case object.Type != "chat_response":
			separator = "\n\n"
		case object.Message != "":
			if answer.Len() > 0 {
				answer.WriteString(separator)
			}
			answer.WriteString(object.Message)
			separator = ""
		}
	}
}

type message struct {
	Role   string   `json:"role"`
	Text   string   `json:"text"`
	Images []string `json:"images,omitempty"`
}

// stdin returns a request as standard input of the command: JSON, or text with a heading above each of several messages.
func (m Model) stdin(r model.Request) []byte {
	instructions, messages := "", messagesOf(r.Items)
	if r.Instructions != nil {
		instructions = *r.Instructions
	}
	if m.Config.Input == "json" {
		encoded, _ := json.Marshal(struct { // texts and a number cannot fail
			Model           string    `json:"model"`
			Instructions    string    `json:"instructions,omitempty"`
			Messages        []message `json:"messages"`
			MaxOutputTokens int64     `json:"max_output_tokens,omitempty"`
		}{m.Name, instructions, messages, r.MaxOutputTokens})
		return append(encoded, '\n')
	}
	var paragraphs []string
	if instructions != "" {
		paragraphs = append(paragraphs, instructions+"\n")
	}
	for _, turn := range messages {
		heading := ""
		if len(messages) > 1 {
			heading = "# " + turn.Role + "\n"
		}
		paragraphs = append(paragraphs, heading+strings.TrimRight(turn.Text, "\n")+"\n")
	}
	return []byte(strings.Join(paragraphs, "\n"))
}

// messagesOf returns a history as messages, without reasoning.
func messagesOf(items []model.Item) []message {
	messages := []message{}
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
		messages = append(messages, m)
	}
	return messages
}
