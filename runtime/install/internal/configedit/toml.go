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

// statement is a statement, and the lines it stands on, with the line end of the
// last.
type statement struct {
	tomlpos.Statement
	from, to int
}

// statements returns those of a document that decodes.
func statements(src []byte) ([]statement, error) {
	found, whole := tomlpos.Scan(src).Statements()
	if !whole {
		return nil, errChecked
	}
	var list []statement
	for _, st := range found {
		to := len(src)
		if i := bytes.IndexByte(src[st.End:], '\n'); i >= 0 {
			to = st.End + i + 1
		}
		list = append(list, statement{st, bytes.LastIndexByte(src[:st.Start], '\n') + 1, to})
	}
	return list, nil
}

func decodeTOML(src []byte) (map[string]any, error) {
	// The parser recurses into brackets, until there is no stack left.
	if at, deep := tomlpos.Scan(src).Deep(); deep {
		return nil, &SyntaxError{at.Line, at.Col, "nested too deeply"}
	}
	doc := map[string]any{}
	_, err := toml.Decode(string(src), &doc)
	var invalid toml.ParseError
	if errors.As(err, &invalid) {
		line, column := position(src, invalid.Position.Start)
		return nil, &SyntaxError{line, column, clip(invalid.Message)}
	}
	if err != nil {
		return nil, &SyntaxError{1, 1, clip(err.Error())}
	}
	return doc, nil
}

// setTOML sets members in the table that has a header of that path, and adds one
// at the end of the document when nothing stands there.
func setTOML(src []byte, path []string, there value, members []Member) (edited []byte, otherwise, err error) {
	if !there.ok {
		return appendTable(src, path, members)
	}
	entry, ok := there.is.(map[string]any)
	if !ok {
		return nil, nil, &ConflictError{Path: path, Detail: "is not a table", Fix: makeTable}
	}
	var missing []Member
	for _, m := range members {
		if value, ok := entry[m.Key]; !ok || !equal(value, decoded(m.Value)) {
			missing = append(missing, m)
		}
	}
	if len(missing) == 0 {
		return src, nil, nil
	}
	table, keys, err := findTable(src, path)
	if err != nil {
		return nil, nil, err
	}
	end := table
	edits := []change{}
	for _, key := range keys {
		end = key
		for i, m := range missing {
			if len(key.Name) == 1 && key.Name[0] == m.Key {
				edits = append(edits, change{key.Value, key.End, tomlValue(m.Value)})
				missing = slices.Delete(missing, i, i+1)
				break
			}
		}
	}
	var b strings.Builder
	if end.to > 0 && src[end.to-1] != '\n' {
		b.WriteString(newline(src))
	}
	for _, m := range missing {
		b.Write(src[end.from:end.Start])
		b.WriteString(m.Key + " = " + tomlValue(m.Value) + newline(src))
	}
	if len(missing) > 0 {
		edits = append(edits, change{end.to, end.to, b.String()})
	}
	return splice(src, edits...), nil, nil
}

// appendTable adds a table at the end. That can be impossible.
func appendTable(src []byte, path []string, members []Member) (edited []byte, otherwise, err error) {
	conflict := &ConflictError{Path: path[:len(path)-1], Detail: "is written in a form that no table can be added to", Fix: makeTable}
	list, err := statements(src)
	if err != nil {
		return nil, nil, err
	}
	// The parser that is used here would let a table in braces be added to; TOML
	// and other parsers do not.
	var header []string
	for _, st := range list {
		if st.Header {
			header = st.Name
			continue
		}
		key := slices.Concat(header, st.Name)
		if len(key) <= len(path) && slices.Equal(key, path[:len(key)]) {
			if src[st.Value] == '{' {
				conflict.Fix = "write what is in its braces as tables with headers, [" + tomlPath(conflict.Path) + ".NAME]"
			}
			return nil, nil, conflict
		}
	}
	eol, gap := newline(src), ""
	if len(bytes.TrimSpace(src)) > 0 {
		gap = eol
		if src[len(src)-1] != '\n' {
			gap += eol
		}
	}
	return slices.Concat(src, []byte(gap+tomlTable(path, members, eol))), conflict, nil
}

// tomlTable writes a table with its header.
func tomlTable(path []string, members []Member, eol string) string {
	text := "[" + tomlPath(path) + "]" + eol
	for _, m := range members {
		text += m.Key + " = " + tomlValue(m.Value) + eol
	}
	return text
}

// findTable returns the header of a table and the keys under it.
func findTable(src []byte, path []string) (statement, []statement, error) {
	list, err := statements(src)
	if err != nil {
		return statement{}, nil, err
	}
	for i, st := range list {
		if !st.Header || st.Array || !slices.Equal(st.Name, path) {
			continue
		}
		keys := list[i+1:]
		if next := slices.IndexFunc(keys, func(st statement) bool { return st.Header }); next >= 0 {
			keys = keys[:next]
		}
		return st, keys, nil
	}
	return statement{}, nil, noHeader(path)
}

// removeTOML removes a table, the tables inside it, and the empty line before
// each. Comments before a header stay: nobody knows what they are about.
func removeTOML(src []byte, path []string) ([]byte, error) {
	spans, err := tableSpans(src, path)
	if err != nil {
		return nil, err
	}
	var edits []change
	for _, span := range spans {
		edits = append(edits, change{emptyLineBefore(src, span.from), span.to, ""})
	}
	return splice(src, edits...), nil
}

// tableSpans returns where a table and the tables inside it are written: whole
// lines, from a header to the last key under it.
func tableSpans(src []byte, path []string) ([]change, error) {
	list, err := statements(src)
	if err != nil {
		return nil, err
	}
	var spans []change
	for i := 0; i < len(list); i++ {
		st := list[i]
		if !st.Header || len(st.Name) < len(path) || !slices.Equal(st.Name[:len(path)], path) {
			continue
		}
		for i+1 < len(list) && !list[i+1].Header {
			i++
		}
		spans = append(spans, change{from: st.from, to: list[i].to})
	}
	return spans, nil
}

// restoreTOML replaces a table, and the tables inside it, by the lines of those
// in original: the first by the first, and so on, with those left over behind the
// last.
func restoreTOML(src []byte, path []string, original []byte) ([]byte, error) {
	from, err := tableSpans(original, path)
	if err != nil {
		return nil, err
	}
	to, err := tableSpans(src, path)
	if err != nil {
		return nil, err
	}
	if len(from) == 0 || len(to) == 0 {
		return nil, noHeader(path)
	}
	for i := range to {
		if i >= len(from) {
			to[i].from = emptyLineBefore(src, to[i].from)
			continue
		}
		text := slices.Clone(original[from[i].from:from[i].to])
		if i == len(to)-1 {
			for _, more := range from[i+1:] {
				text = append(text, original[emptyLineBefore(original, more.from):more.to]...)
			}
		}
		if text[len(text)-1] != '\n' && to[i].to < len(src) {
			text = append(text, newline(src)...)
		}
		to[i].text = string(text)
	}
	return splice(src, to...), nil
}

func noHeader(path []string) error {
	return &ConflictError{
		Path: path, Detail: "is not written as a table with a header of its own, [" + tomlPath(path) + "]", Fix: "write it as one, or remove it",
	}
}

// emptyLineBefore returns where the line before an offset begins if it is empty,
// else the offset.
func emptyLineBefore(src []byte, offset int) int {
	if offset == 0 {
		return offset
	}
	start := bytes.LastIndexByte(src[:offset-1], '\n') + 1
	if len(bytes.TrimSpace(src[start:offset])) > 0 {
		return offset
	}
	return start
}

func tomlPath(path []string) string { return toml.Key(path).String() }

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

// tomlString writes a string. One with backslashes, such as a Windows path, is
// easier to read between single quotes, where nothing has to be escaped.
func tomlString(s string) string {
	special := func(r rune) bool { return r == '\'' || unicode.IsControl(r) }
	if strings.Contains(s, `\`) && !strings.ContainsFunc(s, special) {
		return "'" + s + "'"
	}
	return strings.ReplaceAll(string(hujson.String(s)), "\x7f", `\u007f`) // JSON lets it stand
}
