package document

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The tables of GitHub's Markdown. goldmark has them in a package with other extensions, which compiles expressions
// whenever the program starts: https://github.github.com/gfm/#tables-extension-

// The kinds of nodes of a table. They are far above those that goldmark counts when a program starts.
const (
	tableKind ast.NodeKind = iota + 1000
	rowKind
	headKind
	cellKind
)

// part is a table, a row or a cell.
type part struct {
	ast.BaseBlock
	kind ast.NodeKind
}

// Kind implements [ast.Node].
func (p *part) Kind() ast.NodeKind { return p.kind }

// Dump implements [ast.Node].
func (p *part) Dump(source []byte, level int) { ast.DumpHelper(p, source, level, nil, nil) }

// tableTransformer turns paragraphs into tables if their second line is a delimiter row with the cells of the first.
type tableTransformer struct{}

// Transform implements [parser.ParagraphTransformer]: it replaces a paragraph that is a table by a table. Line 0 is the
// head, line 1 the delimiter row, and each line after these is a row; a row has no more cells than the head.
func (tableTransformer) Transform(paragraph *ast.Paragraph, in text.Reader, _ parser.Context) {
	lines, source := paragraph.Lines(), in.Source()
	if lines.Len() < 2 {
		return
	}
	delimiter := lines.At(1)
	columns := len(cells(lines.At(0), source))
	if !isDelimiter(delimiter.Value(source)) || columns != len(cells(delimiter, source)) {
		return
	}
	table := &part{kind: tableKind}
	addRow := func(line text.Segment, kind ast.NodeKind) {
		row := &part{kind: rowKind}
		all := cells(line, source)
		for _, cell := range all[:min(columns, len(all))] {
			child := &part{kind: kind}
			child.Lines().Append(cell)
			row.AppendChild(row, child)
		}
		table.AppendChild(table, row)
	}
	addRow(lines.At(0), headKind)
	for i := 2; i < lines.Len(); i++ {
		addRow(lines.At(i), cellKind)
	}
	paragraph.Parent().ReplaceChild(paragraph.Parent(), paragraph, table)
}

// isDelimiter reports whether a line is a delimiter row, which is below the head of a table.
func isDelimiter(line []byte) bool {
	return bytes.ContainsAny(line, "|") && bytes.ContainsAny(line, "-") && strings.Trim(string(line), "|-: \t\r\n") == ""
}

// cells returns the cells of a line. Bars separate cells, except a bar after a backslash; a bar at the beginning and a
// bar at the end of the line separate nothing.
func cells(line text.Segment, source []byte) []text.Segment {
	line = trimmed(line, source)
	var all []text.Segment
	start := line.Start // of the next cell
	if start < line.Stop && source[start] == '|' {
		start++
	}
	for i := start; i < line.Stop; i++ {
		if source[i] == '|' && source[i-1] != '\\' {
			all = append(all, trimmed(text.NewSegment(start, i), source))
			start = i + 1
		}
	}
	if endsWithBar := start == line.Stop && len(all) > 0; !endsWithBar {
		all = append(all, trimmed(text.NewSegment(start, line.Stop), source))
	}
	return all
}

// trimmed returns a segment without white space at its ends.
func trimmed(s text.Segment, source []byte) text.Segment {
	s = s.TrimLeftSpace(source)
	return s.TrimRightSpace(source)
}

// registerTables registers functions that write the parts of tables.
func registerTables(register renderer.NodeRendererFuncRegisterer) {
	for kind, tags := range map[ast.NodeKind]struct{ start, end string }{
		tableKind: {"<div class=\"table\" tabindex=\"0\"><table>\n", "</table></div>\n"}, rowKind: {"<tr>", "</tr>\n"},
		headKind: {`<th scope="col">`, "</th>"}, cellKind: {"<td>", "</td>"},
	} {
		register.Register(kind, func(w util.BufWriter, _ []byte, _ ast.Node, enters bool) (ast.WalkStatus, error) {
			tag := tags.end
			if enters {
				tag = tags.start
			}
			_, err := w.WriteString(tag)
			return ast.WalkContinue, err
		})
	}
}
