package document

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/convtools/convtools/runtime/base/text"
)

// DiffLine is a line of a diff.
type DiffLine struct {
	Class string // ins, del, place or same
	Text  string // with its mark
}

// change is a change of a file by a call: the text before and after it, or a patch.
type change struct {
	file, before, after string
	patch               string
}

// patchBegin begins a patch in the form of Codex.
const patchBegin = "*** Begin Patch\n"

// changes returns the changes in the arguments of a call, whichever program recorded it.
func changes(arguments map[string]any) []change {
	if patch := patch(arguments); patch != "" {
		return []change{{file: patchedFile(patch), patch: patch}}
	}
	file := firstText(arguments, "file_path", "filePath", "path")
	var all []change
	for _, edit := range append([]any{arguments}, listed(arguments, "edits", "patches")...) {
		of, _ := edit.(map[string]any)
		before, hasBefore := texts(of, "old_string", "oldString", "old")
		after, hasAfter := texts(of, "new_string", "newString", "new")
		if !hasBefore && file != "" && len(all) == 0 {
			after, hasAfter = texts(of, "content")
			hasBefore = hasAfter
		}
		if hasBefore && hasAfter {
			all = append(all, change{file: file, before: before, after: after})
		}
	}
	return all
}

// texts returns the first of some arguments that is a text.
func texts(arguments map[string]any, names ...string) (said string, found bool) {
	for _, name := range names {
		if said, found = arguments[name].(string); found {
			return said, true
		}
	}
	return "", false
}

func firstText(arguments map[string]any, names ...string) string {
	said, _ := texts(arguments, names...)
	return said
}

// listed returns the elements of the first of some arguments that is a list.
func listed(arguments map[string]any, names ...string) []any {
	for _, name := range names {
		if list, ok := arguments[name].([]any); ok {
			return list
		}
	}
	return nil
}

// maxDiff is the number of bytes of a text that is compared with another.
const maxDiff = 256 << 10

// lines returns the lines of the change, with some around each.
func (c change) lines() []DiffLine {
	shown := c.patch
	if shown == "" {
		shown = compare(ended(c.before), ended(c.after))
	}
	var lines []DiffLine
	for line := range strings.Lines(text.Visible(shown)) {
		line = strings.TrimRight(line, "\n")
		class := "same"
		switch {
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "***"):
			class = "place"
		case strings.HasPrefix(line, "+"):
			class = "ins"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		lines = append(lines, DiffLine{class, line})
	}
	return lines
}

// compare returns the diff of two texts without its header.
func compare(before, after string) string {
	if len(before)+len(after) > maxDiff {
		return marked("-", before) + marked("+", after)
	}
	if before == "" {
		return marked("+", after)
	}
	const header = 3 // lines
	lines := strings.SplitAfterN(string(diff.Diff("a", []byte(before), "b", []byte(after))), "\n", header+1)
	return lines[len(lines)-1]
}

// marked returns a text with a mark before each line.
func marked(mark, said string) string {
	var b strings.Builder
	for line := range strings.Lines(said) {
		b.WriteString(mark + line)
	}
	return b.String()
}

// ended returns a text with a line break at its end, unless it is empty.
func ended(said string) string {
	if said == "" {
		return ""
	}
	return strings.TrimSuffix(said, "\n") + "\n"
}
