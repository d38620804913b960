package commandline

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// Call answers a call of a tool: it checks the arguments, runs the command line, and makes an answer of its output
// while it is printed. It stops a program that only reads when no more of its output can be shown; one that writes
// may finish.
//
// An error is a [*contract.Error] or a [*contract.InvalidArguments].
func (r *Runner) Call(ctx context.Context, t *Tool, asked contract.Call) (string, error) {
	if r == nil {
		return "", contract.Unserved(t.Name)
	}
	for _, former := range t.Former {
		if asked.Tool == former.Name || asked.Tool == strings.ReplaceAll(former.Name, ".", "_") {
			asked = asked.Renamed(t.Name, former.Until)
		}
	}
	given, err := coerce.Arguments(&asked, &t.Tool, t.Problems)
	if err != nil {
		return "", err
	}
	c := &call{tool: t, args: coerce.WithDefaults(&t.Tool, given), conversation: asked.Context.ConversationID}
	answer := newAnswer(t)
	result, err := r.run(ctx, asked.Context, c, answer)
	outputErr := answer.end()
	if err != nil {
		return "", err
	}
	return answer.finish(result, outputErr, c.args, asked.Notes)
}

// answer collects the output of a program.
type answer struct {
	tool  *Tool
	text  *ends // of output that is text; nil for records
	page  page
	begun ends // the beginning and the end of the output, for errors
	input *io.PipeWriter
	read  chan error
}

// longest is the number of bytes in a record that is too long for any answer.
const longest = 1 << 20

func newAnswer(t *Tool) *answer {
	stops := t.Effect == "read"
	a := &answer{tool: t, page: page{tool: t}, begun: ends{HeadTail: process.HeadTail{Limit: 8 * maxComplaint}}}
	if t.Output.Form == Text {
		a.text = &ends{HeadTail: process.HeadTail{Limit: 8 * t.MaxChars}, stops: stops}
		return a
	}
	output, input := io.Pipe()
	a.input, a.read = input, make(chan error, 1)
	go func() {
		err := t.Output.read(output, max(longest, 8*t.MaxChars), a.page.add)
		if errors.Is(err, errLong) {
			a.page.over, a.page.ended, err = true, true, process.ErrEnough
			a.page.left++
		}
		// The exit code says more about a program than the form of its output.
		if err != nil && !errors.Is(err, process.ErrEnough) {
			_, _ = io.CopyN(io.Discard, output, longest)
		}
		if err != nil && stops {
			_ = output.CloseWithError(process.ErrEnough) // always nil
		}
		_, _ = io.Copy(io.Discard, output)
		a.read <- err
	}()
	return a
}

// Write adds output. The error is [process.ErrEnough] if no more can be shown.
func (a *answer) Write(p []byte) (int, error) {
	_, _ = a.begun.Write(p) // always nil
	if a.text != nil {
		return a.text.Write(p)
	}
	return a.input.Write(p)
}

// end ends the output, and returns what is wrong with it.
func (a *answer) end() error {
	if a.read == nil {
		return nil
	}
	_ = a.input.Close() // always nil
	return <-a.read
}

// finish returns the answer of a program that has ended, or its error. outputErr is the error of reading its output. A
// bad exit code comes before output of the wrong form.
func (a *answer) finish(ran process.Result, outputErr error, args coerce.Object, notes []string) (string, error) {
	t := a.tool
	if errors.Is(outputErr, process.ErrEnough) {
		outputErr = nil // no more fits into an answer
	}
	switch {
	case ran.Enough: // stopped by us: there is no exit code
	case !slices.Contains(t.Command.OKExit, ran.ExitCode):
		return "", t.failed(ran.ExitCode, ran.Stderr, &a.begun)
	case slices.Contains(t.Command.EmptyExit, ran.ExitCode):
		return (&page{tool: t}).text(args, notes, false)
	}
	switch {
	case outputErr != nil:
		return "", t.misprinted(outputErr)
	case a.text != nil:
		return t.text(a.text, args, notes, ran.Enough)
	}
	return a.page.text(args, notes, ran.Enough)
}

// run runs the command line of a call.
func (r *Runner) run(ctx context.Context, where contract.Context, c *call, to *answer) (process.Result, error) {
	command := &c.tool.Command
	line, ok := r.Lines.Lookup(command.Line)
	if !ok {
		return process.Result{}, &contract.Error{Message: "There is no command line " + command.Line + " here. It is a fault of the program; another call will not help."}
	}
	words, err := r.Words(line)
	if err != nil {
		return process.Result{}, line.failed(err, "")
	}
	dir, err := below(where.Dir, command.Dir)
	if err != nil {
		return process.Result{}, line.failed(err, "")
	}
	run := process.Command{
		Path: words[0], Args: slices.Concat(words[1:], c.argv()), Dir: dir,
		Env:   append(process.DefaultEnv(line.PassEnv...), c.environment()...),
		Stdin: c.stdin(), Output: to, Limits: process.Limits{Timeout: time.Duration(command.Timeout) * time.Second},
	}
	result, err := r.Process.Run(ctx, run)
	var late *process.Error
	if errors.As(err, &late) && late.Kind == process.Timeout && ctx.Err() == nil {
		own := *late
		own.Hint = "ask it for less; its spec sets the time limit"
		err = &own
	}
	if err != nil {
		return process.Result{}, line.failed(err, to.begun.String())
	}
	return result, nil
}
