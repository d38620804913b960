// Package toolcall finds the changes of files and the shell commands in recorded calls of tools. It knows no
// tool by its name: programs call their tools differently, and give their arguments nearly the same names.
package toolcall

import (
	"strings"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Edit is a change of a file.
type Edit struct {
	Path string // as recorded: absolute, or relative to the directory of the conversation
	// Before is the text that the change replaces, and After the text in its place. Before is empty if the whole
	// file is written.
	Before, After string
}

// role is the role of an argument in a call.
type role uint8

const (
	isPath role = iota + 1
	isBefore
	isAfter
	isCommand
)

// roleOf returns the role of an argument by its name; 0 for none. Case and underscores do not matter.
func roleOf(name []byte) role {
	switch strings.ToLower(strings.ReplaceAll(string(name), "_", "")) {
	case "path", "filepath", "filename", "notebookpath", "targetfile", "absolutepath", "relativeworkspacepath":
		return isPath
	case "old", "oldstring", "oldstr", "oldtext", "before":
		return isBefore
	case "new", "newstring", "newstr", "newtext", "content", "contents", "filetext", "newsource", "code", "codeedit", "after":
		return isAfter
	case "command", "cmd", "commandline":
		return isCommand
	}
	return 0
}

// maxDepth is the number of lists in each other in which changes are looked for: of files, and of changes in each.
const maxDepth = 2

// Edits returns the changes of files that a call makes if it succeeds; none for another event.
func Edits(e *transcript.Event) []Edit {
	switch {
	case e.Kind != transcript.KindToolCall:
		return nil
	case len(e.Arguments) == 0:
		return patch(string(e.Text), "")
	}
	return edits(e.Arguments, "", maxDepth)
}

// edits returns the changes in a value. A text can be a patch. An object with a path and a new text is one change; in
// another object, edits searches the texts for patches and the lists for changes. path is the file of a change that
// names no file. depth is how many more lists, each inside the list before, may be searched.
func edits(value jsontext.Raw, path string, depth int) (all []Edit) {
	if _, isText := jsontext.Unquote(value); isText {
		return patch(jsontext.String(value), path)
	}
	edit, isWritten := Edit{Path: path}, false
	var others []jsontext.Raw // can have changes: lists, and texts that may be patches
	for m := range jsontext.Members(value) {
		_, isText := jsontext.Unquote(m.Value)
		switch role := roleOf(jsontext.Unescape(m.Key)); {
		case !isText || role == 0 || role == isCommand:
			others = append(others, m.Value)
		case role == isPath:
			edit.Path = jsontext.String(m.Value)
		case role == isBefore:
			edit.Before = jsontext.String(m.Value)
		case role == isAfter:
			edit.After, isWritten = jsontext.String(m.Value), true
		}
	}
	if isWritten && edit.Path != "" {
		return []Edit{edit}
	}
	for _, other := range others {
		if _, isText := jsontext.Unquote(other); isText {
			all = append(all, patch(jsontext.String(other), edit.Path)...)
		}
		for element := range jsontext.Elements(other) {
			if depth > 0 {
				all = append(all, edits(element, edit.Path, depth-1)...)
			}
		}
	}
	return all
}

// Command returns the shell command that a call runs; "" for any other event, and for a call that changes a file.
func Command(e *transcript.Event) string {
	if e.Kind != transcript.KindToolCall {
		return ""
	}
	command := ""
	for m := range jsontext.Members(e.Arguments) {
		switch roleOf(jsontext.Unescape(m.Key)) {
		case isPath: // the command is one of an editor
			return ""
		case isCommand:
			command = commandOf(m.Value)
		}
	}
	if strings.Contains(command, patchBegin) {
		return ""
	}
	return command
}

// commandOf returns a command as one text. It is recorded as a text, or as a list of a program and its arguments. Of the
// list for a shell, such as sh -c SCRIPT, it returns only the script.
func commandOf(raw jsontext.Raw) string {
	var words []string
	for element := range jsontext.Elements(raw) {
		words = append(words, jsontext.String(element))
	}
	if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		words = words[2:]
	}
	return strings.TrimSpace(jsontext.String(raw) + strings.Join(words, " ")) // one of the two is empty
}
