package configedit

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"github.com/convtools/convtools/runtime/base/tomlpos"
)

// statement is a statement of a document, and the range of the whole lines that it is on, with the last line ending.
type statement struct {
	tomlpos.Statement
	from, to int
}

// statements returns the statements of a valid document. The error is errChecked: the scanner does not understand it.
func statements(src []byte) ([]statement, error) {
	scanned, isComplete := tomlpos.Scan(src).Statements()
	if !isComplete {
		return nil, errChecked
	}
	var list []statement
	for _, st := range scanned {
		from, to := bytes.LastIndexByte(src[:st.Start], '\n')+1, len(src) // of the lines of st
		if i := bytes.IndexByte(src[st.End:], '\n'); i >= 0 {
			to = st.End + i + 1
		}
		list = append(list, statement{st, from, to})
	}
	return list, nil
}

// decodeTOML returns the decoded document. The error is a *SyntaxError.
func decodeTOML(src []byte) (map[string]any, error) {
	// The decoder recurses into brackets without a bound.
	if position, isDeep := tomlpos.Scan(src).Deep(); isDeep {
		return nil, &SyntaxError{position.Line, position.Col, "nested too deeply"}
	}
	doc := map[string]any{}
	_, err := toml.Decode(string(src), &doc)
	if invalid, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, syntaxError(src, invalid.Position.Start, invalid.Message)
	}
	if err != nil {
		return nil, syntaxError(src, 0, err.Error())
	}
	return doc, nil
}

// setTOML returns src with the members set in the table at path; exists reports whether the table exists. A new table
// is added at the end. In an existing table, new values take the place of old ones, and new members follow the last
// statement. The error is a *ConflictError if the existing table has no header, if no table can be added at path, or if
// an old value may have comments.
func setTOML(src []byte, path []string, exists bool, members []Member) ([]byte, error) {
	list, err := statements(src)
	if err != nil {
		return nil, err
	}
	if !exists {
		return appendTable(src, list, path, members)
	}
	header := slices.IndexFunc(list, func(st statement) bool { return st.Header && !st.Array && slices.Equal(st.Name, path) })
	if header < 0 {
		return nil, noHeaderError(path)
	}
	out, copied := []byte(nil), 0 // out is src[:copied] with the new values
	last := list[header]          // the last statement of the table
	for _, st := range list[header+1:] {
		if isNextTable := st.Header; isNextTable {
			break
		}
		last = st
		i := slices.IndexFunc(members, func(m Member) bool { return slices.Equal(st.Name, []string{m.Key}) })
		if i < 0 {
			continue
		}
		old := src[st.Value:st.End] // the text of the value
		if bytes.ContainsRune(old, '#') && bytes.ContainsRune(old, '\n') {
			return nil, &ConflictError{Path: append(slices.Clip(path), st.Name...), Detail: "may have comments, which would be lost", Fix: "change it by hand"}
		}
		out, copied = slices.Concat(out, src[copied:st.Value], []byte(tomlValue(members[i].Value))), st.End
		members = slices.Delete(slices.Clone(members), i, i+1) // the rest are new members
	}
	out = append(out, src[copied:last.to]...) // to the end of the lines of last
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, newline(src)...)
	}
	for _, m := range members {
		indent := string(src[last.from:last.Start]) // the blanks before last on its line
		out = append(out, indent+m.Key+" = "+tomlValue(m.Value)+newline(src)...)
	}
	return append(out, src[last.to:]...), nil
}

// appendTable returns src with a new table at path at the end. It returns a *ConflictError if a table around the new
// one is written in a form that TOML allows no additions to: as [[name]], an array of tables, or as the value of a key.
func appendTable(src []byte, list []statement, path []string, members []Member) ([]byte, error) {
	var header []string // of the table with the statement st
	for _, st := range list {
		if st.Header {
			header = st.Name
			if st.Array && len(header) < len(path) && beginsWith(path, header) {
				return nil, &ConflictError{Path: header, Detail: "is written in a form that no table can be added to", Fix: makeTable}
			}
			continue
		}
		if isAround := beginsWith(path, slices.Concat(header, st.Name)); !isAround {
			continue
		}
		// The decoder of package toml allows additions to a table in braces, but TOML and other parsers do not.
		conflict := &ConflictError{Path: path[:len(path)-1], Detail: "is written in a form that no table can be added to", Fix: makeTable}
		if src[st.Value] == '{' {
			conflict.Fix = "write what is in its braces as tables with headers, [" + toml.Key(conflict.Path).String() + ".NAME]"
		}
		return nil, conflict
	}
	eol, gap := newline(src), ""
	if len(bytes.TrimSpace(src)) > 0 { // an empty line comes before the table
		gap = eol
		if src[len(src)-1] != '\n' {
			gap += eol
		}
	}
	return slices.Concat(src, []byte(gap+tomlTable(path, members, eol))), nil
}

// tomlTable returns a table with its header.
func tomlTable(path []string, members []Member, eol string) string {
	text := "[" + toml.Key(path).String() + "]" + eol
	for _, m := range members {
		text += m.Key + " = " + tomlValue(m.Value) + eol
	}
	return text
}

// beginsWith reports whether the first elements of path are those of prefix.
func beginsWith(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// removeTOML returns src without the table at path and the tables inside it. With each table it removes the lines from
// the header to the last statement, and an empty line before the header. Comments before a header stay: they may be
// about anything. If none of these tables has a header, removeTOML returns a *ConflictError.
func removeTOML(src []byte, path []string) ([]byte, error) {
	list, err := statements(src)
	if err != nil {
		return nil, err
	}
	out, copied := []byte(nil), 0 // out is src[:copied] without the tables
	for i := 0; i < len(list); i++ {
		header := list[i]
		if !header.Header || !beginsWith(header.Name, path) {
			continue
		}
		for i+1 < len(list) && !list[i+1].Header {
			i++ // to the last statement of this table
		}
		out = append(out, src[copied:emptyLineBefore(src, header.from)]...)
		copied = list[i].to
	}
	if copied == 0 {
		return nil, noHeaderError(path)
	}
	return append(out, src[copied:]...), nil
}

func noHeaderError(path []string) error {
	return &ConflictError{
		Path: path, Detail: "is not written as a table with a header of its own, [" + toml.Key(path).String() + "]", Fix: "write it as one, or remove it",
	}
}

// emptyLineBefore returns the start of the blank line that ends at offset. Without such a line it returns offset.
func emptyLineBefore(src []byte, offset int) int {
	if offset == 0 {
		return offset
	}
	beforeLineEnd := src[:offset-1]
	previous := bytes.LastIndexByte(beforeLineEnd, '\n') + 1
	if isBlank := len(bytes.TrimSpace(src[previous:offset])) == 0; isBlank {
		return previous
	}
	return offset
}

// tomlValue returns the text of a string, a bool or a []string.
func tomlValue(value any) string {
	switch v := value.(type) {
	case string:
		return tomlString(v)
	case bool:
		return strconv.FormatBool(v)
	case []string:
		var items []string
		for _, item := range v {
			items = append(items, tomlString(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return `""`
}

// tomlString returns a string in quotes. If possible, backslashes are in single quotes, where nothing is escaped.
func tomlString(s string) string {
	needsEscape := func(r rune) bool { return r == '\'' || unicode.IsControl(r) }
	if strings.Contains(s, `\`) && !strings.ContainsFunc(s, needsEscape) {
		return "'" + s + "'"
	}
	return strings.ReplaceAll(string(hujson.String(s)), "\x7f", `\u007f`) // JSON does not escape it, TOML has to
}
