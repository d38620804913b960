package toolcall

import "strings"

// The marks of patches. A patch of Codex begins with the first and names its files in the next three; a unified diff has
// the last two.
const (
	patchBegin  = "*** Begin Patch"
	fileAdded   = "*** Add File: "
	fileUpdated = "*** Update File: "
	fileMoved   = "*** Move to: "
	fileAfter   = "+++ "
	hunk        = "@@"
)

// patch returns the changes in a text that is a patch of Codex, a unified diff or a list of replacements, and nil for
// any other text. path is the file of the changes before the text names a file; "" if that file is not known.
func patch(text, path string) []Edit {
	p := patching{path: path}
	isUnifiedDiff := strings.Contains(text, "\n"+fileAfter) && strings.Contains(text, "\n"+hunk)
	readLine := p.diffLine
	switch {
	case isUnifiedDiff || strings.Contains(text, patchBegin): // lines are those of a diff
	case path != "" && strings.Contains(text, " SEARCH\n"):
		readLine = p.replacementLine
	default:
		return nil
	}
	for line := range strings.Lines(text) {
		readLine(line)
	}
	p.endEdit()
	return p.edits
}

// patching is the reading of a patch.
type patching struct {
	edits         []Edit
	path          string
	before, after []byte  // of the current change
	to            *[]byte // one of these in a list of replacements; nil outside of one
}

// endEdit adds the current change to the edits, if it changes anything and its file is known, and begins another one.
func (p *patching) endEdit() {
	if len(p.before)+len(p.after) > 0 && p.path != "" {
		p.edits = append(p.edits, Edit{p.path, string(p.before), string(p.after)})
	}
	p.before, p.after = nil, nil
}

// beginFile ends the current change and begins the changes of a file.
func (p *patching) beginFile(path string) {
	p.endEdit()
	p.path = strings.TrimSpace(path)
}

// diffLine reads a line of a diff.
func (p *patching) diffLine(line string) {
	for _, header := range []string{fileAdded, fileUpdated, fileMoved, fileAfter} {
		if path, ok := strings.CutPrefix(line, header); ok {
			path, _, _ = strings.Cut(path, "\t")
			p.beginFile(strings.TrimPrefix(path, "b/"))
			return
		}
	}
	switch line[0] {
	case '-':
		if !strings.HasPrefix(line, "--- ") {
			p.before = append(p.before, line[1:]...)
		}
	case '+':
		p.after = append(p.after, line[1:]...)
	case ' ', '\r', '\n': // unchanged; an empty line may lack its space
		line = strings.TrimPrefix(line, " ")
		p.before, p.after = append(p.before, line...), append(p.after, line...)
	default: // such as the beginning of a hunk
		p.endEdit()
	}
}

// replacementLine reads a line of a list of replacements. A replacement is the line "------- SEARCH", the old text, the
// line "=======", the new text, and the line "+++++++ REPLACE"; other forms have "<" and ">" for "-" and "+".
func (p *patching) replacementLine(line string) {
	switch mark := strings.Trim(line, "-<>+\r\n"); {
	case mark == " SEARCH":
		p.endEdit()
		p.to = &p.before
	case p.to == &p.before && strings.HasPrefix(line, "===") && strings.Trim(line, "=\r\n") == "":
		p.to = &p.after
	case mark == " REPLACE":
		p.to = nil
	case p.to != nil:
		*p.to = append(*p.to, line...)
	}
}
