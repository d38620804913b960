package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/toolcall"
	"github.com/convtools/convtools/runtime/transcript"
)

// Call is a call of a tool, with its result once there is one.
type Call struct {
	Tool   string
	About  string // the command, the file or another argument that says most
	Input  []*Block
	Output *Result
}

// Result is the result of a call.
type Result struct {
	Number int
	Link   string
	Size   string
	Exit   string // such as "exit 1"; empty if it is not known
	Failed bool
	*Block
}

// maxAbout is the number of characters of [Call.About].
const maxAbout = 160

// call returns a call for people: what it is about on one line, and its edits, or else its command or arguments.
func (r *Renderer) call(e *conversations.Event) *Call {
	command, edits := toolcall.Command(&e.Event), toolcall.Edits(&e.Event)
	c := &Call{Tool: text.Line(text.Cut(e.Name, maxTitle))}
	for _, edit := range edits {
		c.Input = append(c.Input, &Block{Name: text.Line(r.fileName(edit.Path)), Diff: diffLines(edit)})
	}
	about := command
	if len(edits) > 0 {
		about = r.fileName(edits[0].Path)
	} else if about == "" {
		about = r.fileName(mostTelling(e.Arguments))
	}
	c.About = text.Cut(text.Line(strings.Join(strings.Fields(about), " ")), maxAbout)
	input := cmp.Or(command, string(e.Body()))
	addsNothing := input == "{}" || input == c.About
	if len(edits) == 0 && !addsNothing {
		c.Input = append(c.Input, r.block(e.Number, text.Visible(input)))
	}
	return c
}

// fileName returns the path of a file, relative to the directory of the conversation if it is below that.
func (r *Renderer) fileName(path string) string {
	if r.Dir == "" {
		return path
	}
	return strings.TrimPrefix(path, strings.TrimRight(r.Dir, `/\`)+"/")
}

// mostTelling returns the argument that says most of a call, by names that programs use; empty if it has none of them.
func mostTelling(arguments []byte) string {
	var values map[string]any
	_ = json.Unmarshal(arguments, &values) // arguments that are no object have no names
	for _, name := range []string{"file_path", "filePath", "path", "pattern", "query", "url", "description", "id", "topic", "prompt", "package"} {
		if said, ok := values[name].(string); ok && said != "" {
			return said
		}
	}
	return ""
}

// setResult sets the result of a call from the event e, which has the result.
func (c *Call) setResult(r *Renderer, e *conversations.Event) {
	said := text.Visible(string(e.Body()))
	c.Output = &Result{
		Number: e.Number, Link: r.link(e.Number), Size: Size(len(e.Body())), Exit: exit(e.Text), Failed: e.Failed, Block: r.block(e.Number, said),
	}
	if e.Encoding == transcript.Base64 {
		c.Output.Block = &Block{Head: "data that is no text", Cut: len(e.Text)}
	}
}

// loneResult returns a result whose call is not in the document.
func (r *Renderer) loneResult(e *conversations.Event) *Call {
	c := &Call{Tool: "Result", About: Beginning(string(e.Text))}
	c.setResult(r, e)
	return c
}

// exit returns the exit code in the first 512 bytes of a result, as "exit 1"; empty if there is none. It knows the words
// with which several programs write exit codes.
func exit(result []byte) string {
	beginning := result[:min(len(result), 512)]
	for _, words := range []string{"Exit code: ", "Exit code ", "Process exited with code ", `"exit_code":`, "exit status "} {
		_, after, _ := bytes.Cut(beginning, []byte(words))
		code := after[:min(len(after), len("255"))] // an exit code has no more digits
		if end := bytes.IndexFunc(code, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			code = code[:end]
		}
		if len(code) > 0 {
			return "exit " + string(code)
		}
	}
	return ""
}

// Size returns a number of bytes for people.
func Size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}
