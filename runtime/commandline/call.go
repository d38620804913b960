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

// Call checks the arguments of a call, runs the command line of the tool, and returns the answer. It reads the output
// while the program runs. When no more of the output can be shown, Call stops the program of a tool that only reads; a
// program that writes may finish.
//
// An error is a [*contract.Error] or a [*contract.InvalidArguments].
func (r *Runner) Call(ctx context.Context, t *Tool, asked contract.Call) (string, error) {
	if r == nil {
		return "", contract.Unserved(t.Name)
	}
	for _, former := range t.Former {
		spelledByHost := strings.ReplaceAll(former.Name, ".", "_")
		if asked.Tool == former.Name || asked.Tool == spelledByHost {
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
	outputErr := answer.endOutput()
	if err != nil {
		return "", err
	}
	return answer.finish(result, outputErr, c.args, asked.Notes)
}

// answer collects the output of a program, as text or as records.
type answer struct {
	tool    *Tool
	text    *clippedText   // for output that is text; nil for records
	page    page           // for records
	printed clippedText    // any output, for errors
	input   *io.PipeWriter // to the reader of records
	read    chan error     // has the error of reading the records, at their end
}

// maxRecordBytes is the bytes of a record that is too long for any answer, and bounds output that is read but not shown.
const maxRecordBytes = 1 << 20

// newAnswer returns an answer without output. For records, it starts a goroutine that reads what Write gets, until
// endOutput. The limits are 8 bytes a character, which is room for all characters in either half of a HeadTail.
func newAnswer(t *Tool) *answer {
	a := &answer{tool: t, page: page{tool: t}, printed: clippedText{HeadTail: process.HeadTail{Limit: 8 * maxComplaint}}}
	if t.Output.Form == Text {
		a.text = &clippedText{HeadTail: process.HeadTail{Limit: 8 * t.MaxChars}, stops: t.onlyReads()} // stops at mostText
		return a
	}
	output, input := io.Pipe()
	a.input, a.read = input, make(chan error, 1)
	go func() { a.read <- a.readRecords(output) }()
	return a
}

// readRecords reads all output, and adds the records to the page. The error is [process.ErrEnough] if the page can show
// no more records, or says what is wrong with the output. After an error, a program that only reads is stopped.
func (a *answer) readRecords(output *io.PipeReader) error {
	err := a.tool.Output.readRecords(output, max(maxRecordBytes, 8*a.tool.MaxChars), a.page.addRecord)
	if errors.Is(err, errLong) { // one record too long for the page was read: more may follow, which are not counted
		a.page.full, a.page.uncounted = true, true
		a.page.omitted++
		err = process.ErrEnough
	}
	if isWrongForm := err != nil && !errors.Is(err, process.ErrEnough); isWrongForm {
		// Read a little more before the program is stopped: if it ends by itself, its exit code says more than err.
		_, _ = io.CopyN(io.Discard, output, maxRecordBytes)
	}
	if err != nil && a.tool.onlyReads() {
		_ = output.CloseWithError(process.ErrEnough) // the next write of the program stops it
	}
	_, _ = io.Copy(io.Discard, output)
	return err
}

// Write adds output. The error is [process.ErrEnough] if no more can be shown.
func (a *answer) Write(p []byte) (int, error) {
	_, _ = a.printed.Write(p) // always nil
	if a.text != nil {
		return a.text.Write(p)
	}
	return a.input.Write(p)
}

// endOutput waits until all output is read, and returns the error of reading records. For text, it returns nil.
func (a *answer) endOutput() error {
	if a.read == nil { // the output is text, which Write has added
		return nil
	}
	_ = a.input.Close() // the reader of records gets io.EOF; Close never fails
	return <-a.read     // readRecords has ended
}

// finish returns the answer of a program that has ended, or an error. An exit code that means failure is the error,
// even if the output is wrong too. After an exit code in EmptyExit, the answer has no records, whatever the output is.
// Otherwise outputErr decides: it is the error of reading the output.
func (a *answer) finish(result process.Result, outputErr error, args coerce.Object, notes []string) (string, error) {
	t, stopped := a.tool, result.Enough // stopped: this package has ended the program, which has no exit code
	if !stopped && !slices.Contains(t.Command.OKExit, result.ExitCode) {
		return "", t.exitError(result.ExitCode, result.Stderr, &a.printed)
	}
	if !stopped && slices.Contains(t.Command.EmptyExit, result.ExitCode) {
		return (&page{tool: t}).document(args, notes, false)
	}
	if outputErr != nil && !errors.Is(outputErr, process.ErrEnough) { // ErrEnough means that the page is full
		return "", t.outputError(outputErr)
	}
	if a.text != nil {
		return t.textDocument(a.text, args, notes, stopped)
	}
	return a.page.document(args, notes, stopped)
}

// run runs the command line of a call to its end and writes its output to output. An error is a [*contract.Error]: the
// line, its program or its folder does not exist, or the program did not run to its end.
func (r *Runner) run(ctx context.Context, callContext contract.Context, c *call, output *answer) (process.Result, error) {
	command := &c.tool.Command
	line, ok := r.Lines.Lookup(command.Line)
	if !ok {
		return process.Result{}, &contract.Error{Message: "There is no command line " + command.Line + " here. It is a fault of the program; another call will not help."}
	}
	words, err := r.Words(line)
	if err != nil {
		return process.Result{}, line.runError(err, "")
	}
	dir, err := projectFolder(callContext.Dir, command.Dir)
	if err != nil {
		return process.Result{}, line.runError(err, "")
	}
	run := process.Command{
		Path: words[0], Args: slices.Concat(words[1:], c.argv()), Dir: dir,
		Env:   append(process.DefaultEnv(line.PassEnv...), c.environment()...),
		Stdin: c.stdin(), Output: output, Limits: process.Limits{Timeout: time.Duration(command.Timeout) * time.Second},
	}
	result, err := r.Process.Run(ctx, run)
	failure, failed := errors.AsType[*process.Error](err)
	if failed && failure.Kind == process.Timeout && ctx.Err() == nil { // the tool's own time limit
		timeout := *failure
		timeout.Hint = "ask it for less; its spec sets the time limit"
		err = &timeout
	}
	if err != nil {
		return process.Result{}, line.runError(err, output.printed.String())
	}
	return result, nil
}
