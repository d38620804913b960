// Package layout writes the Go that this module generates as gofmt does, in a fraction
// of the time: most of that of generating a thousand tools would else be spent in
// package go/format.
//
// What it does not know for sure is left to that package. It never changes a token.
package layout

import (
	"bytes"
	"go/format"
	"go/token"
	"slices"
	"strings"
	"unicode/utf8"
)

// Source returns source as gofmt has it. source is as package jen prints it without
// formatting: every statement, comment and element of a literal on a line, and blank
// lines around declarations.
func Source(source []byte) ([]byte, error) {
	p := printer{}
	p.out.Grow(len(source) + len(source)/8)
	for declaration := range strings.SplitSeq(string(source), "\n\n") {
		declaration = strings.Trim(declaration, "\n ")
		if declaration == "" {
			continue
		}
		if p.out.Len() > 0 {
			p.out.WriteByte('\n')
		}
		begin := p.out.Len()
		if p.declaration(declaration) {
			continue
		}
		text, err := format.Source([]byte(declaration))
		if err != nil {
			return format.Source(source) // a blank line stood within a declaration
		}
		p.out.Truncate(begin)
		p.out.Write(append(bytes.TrimRight(text, "\n"), '\n'))
	}
	return p.out.Bytes(), nil
}

// declaration writes a declaration as gofmt does. It knows the Go that this package emits: a
// statement, a comment, or a part of a literal on each line, and no products: a star
// is a pointer's. It reports false for one that has anything else in it. Tests hold it
// against package go/format.
func (p *printer) declaration(declaration string) bool {
	p.levels, p.column, p.noted = p.levels[:0], p.column[:0], false
	for line := range strings.SplitSeq(declaration, "\n") {
		line = strings.Trim(line, " ")
		switch {
		case strings.HasPrefix(line, "//"):
			if !p.note(line) {
				return false
			}
		case !p.scan(line) || !p.line():
			return false
		}
	}
	p.flush()
	return len(p.levels) == 0 && !p.noted
}

// printer lays out declarations, one after the other.
type printer struct {
	out    bytes.Buffer
	levels []level
	tokens []lexeme  // of the line
	column []columns // lines that wait for the width of their first column
	noted  bool      // the line before is a comment

	open []open // for unclosed, as is at: a line needs few of them
	at   []int
}

// level is what a line begins that opens more brackets than it closes.
type level struct {
	closers string
	aligned bool // what stands in it has columns
}

// columns is a line with two columns, or with a tag that is the third.
type columns struct {
	first, second, third string
	depth                int
}

// lexeme is a token, and what has to be known of it to set it apart from the one before.
type lexeme struct {
	text string
	kind kind
	// tight is an operator without blanks around it.
	tight  bool
	commas int // right in what it opens
}

// open is a bracket that a line has opened.
type open struct {
	at, depth int
	sums      []int // operators of addition right in it
}

type kind int

const (
	name kind = iota // also a number
	keyword
	literal  // a string or a rune
	operator // with two operands, or an assignment
	prefix   // an operator with one operand, or the star of a pointer
	bracket
	mark // anything else
)

// note writes a comment. One that gofmt may take for more than a line of a paragraph is
// not known.
func (p *printer) note(line string) bool {
	line = strings.TrimRight(line, " ")
	if line != "//" {
		text, ok := strings.CutPrefix(line, "// ")
		if !ok || strings.Contains(line, "``") || strings.Contains(line, "''") || strings.Contains(line, "]:") || strings.Contains(line, "\t") {
			return false
		}
		if c := text[0]; c != '[' && c != '(' && c != '"' && c != '`' && c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	p.flush()
	p.indent(len(p.levels))
	p.out.WriteString(line + "\n")
	p.noted = len(p.levels) > 0
	return true
}

// scan cuts a line into tokens.
func (p *printer) scan(line string) bool {
	p.tokens = p.tokens[:0]
	for i := 0; i < len(line); {
		c := line[i]
		end := i + 1
		l := lexeme{kind: mark}
		switch {
		case c == ' ':
			i++
			continue
		case c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80:
			for end < len(line) && (line[end] == '_' || line[end] >= '0' && line[end] <= '9' || line[end]|0x20 >= 'a' && line[end]|0x20 <= 'z' || line[end] >= 0x80) {
				end++
			}
			// A fraction or an exponent.
			for c >= '0' && c <= '9' && end < len(line) && (line[end] == '.' || line[end] >= '0' && line[end] <= '9') {
				end++
			}
			l.kind = name
			if token.IsKeyword(line[i:end]) {
				l.kind = keyword
			}
		case c == '"' || c == '\'' || c == '`':
			for end < len(line) && line[end] != c {
				if line[end] == '\\' && c != '`' {
					end++
				}
				end++
			}
			if end++; end > len(line) {
				return false
			}
			l.kind = literal
		case strings.IndexByte("()[]{}", c) >= 0:
			if c == '(' && len(p.tokens) > 0 && (p.last().text == "if" || p.last().text == "for" || p.last().text == "switch") {
				return false // gofmt takes brackets from around a condition
			}
			l.kind = bracket
		case strings.HasPrefix(line[i:], "..."):
			end = i + 3
		case c == ',' || c == ';' || c == '.':
		default:
			l.kind = operator
			end = i
			for end < len(line) && strings.IndexByte(":=!<>&|+-*", line[end]) >= 0 {
				end++
			}
			switch op := line[i:end]; op {
			case ":":
				l.kind = mark
			case "=", ":=", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "+", "+=":
			case "!", "*", "&":
				if len(p.tokens) > 0 && p.last().kind == name && p.last().text[0] <= '9' {
					return false // a product
				}
				l.kind = prefix
			case "-":
				if len(p.tokens) > 0 && (p.last().kind == name || p.last().kind == literal || p.last().text == ")" || p.last().text == "]") {
					return false
				}
				l.kind = prefix
			default:
				return false
			}
		}
		l.text = line[i:end]
		p.tokens = append(p.tokens, l)
		i = end
	}
	return len(p.tokens) > 0
}

func (p *printer) last() lexeme { return p.tokens[len(p.tokens)-1] }

// line writes the line whose tokens were scanned.
func (p *printer) line() bool {
	closed := 0
	for closed < len(p.tokens) && closes(p.tokens[closed].text) {
		closed++
	}
	if closed > 0 {
		if len(p.levels) == 0 || joined(p.tokens[:closed]) != p.levels[len(p.levels)-1].closers {
			return false
		}
		p.flush()
		p.levels = p.levels[:len(p.levels)-1]
	}
	first := p.tokens[0]
	isCase := first.text == "case" || first.text == "default"
	if p.noted && (closed > 0 || isCase) {
		return false // how far the comment is indented depends on whose it is
	}
	p.noted = false
	closers, ok := p.unclosed(closed)
	inner := p.tokens[closed:]
	if !ok || p.last().kind == operator || hasBody(inner) {
		return false // it goes on in the next line, or has more than a line's statements in it
	}
	isBlock := closers != "" && p.opensBlock(inner)
	depth := len(p.levels)
	if isCase {
		depth--
	}
	aligned := depth > 0 && p.levels[len(p.levels)-1].aligned && closed == 0 && closers == ""
	at := 0
	if aligned {
		at = secondColumn(p.tokens)
	}
	switch {
	case at > 0:
		c := columns{first: p.text(0, at), depth: depth}
		end := len(p.tokens)
		if tag := p.last().text; tag[0] == '`' {
			end--
			c.third = tag
		}
		c.second = p.text(at, end)
		if len(p.column) > 0 && (p.column[0].third == "") != (c.third == "") {
			return false
		}
		p.column = append(p.column, c)
	default:
		p.flush()
		p.indent(depth)
		p.write(&p.out, 0, len(p.tokens), isBlock)
		p.out.WriteByte('\n')
	}
	if closers != "" {
		word := ""
		if len(inner) > 0 {
			word = inner[0].text
		}
		isFields := inner[len(inner)-1].text == "{" && len(inner) > 1 && inner[len(inner)-2].text == "struct"
		p.levels = append(p.levels, level{closers, isFields || word == "const" || !isBlock && inner[len(inner)-1].text == "{"})
	}
	return true
}

func closes(text string) bool { return text == "}" || text == ")" || text == "]" }

func joined(tokens []lexeme) string {
	var b strings.Builder
	for _, l := range tokens {
		b.WriteString(l.text)
	}
	return b.String()
}

// unclosed returns what closes the brackets that a line leaves open, and finds the
// operators that have no blanks. Tokens before start are of other lines.
func (p *printer) unclosed(start int) (closers string, ok bool) {
	stack := append(p.open[:0], open{depth: 1})
	defer func() { p.open = stack }()
	settle := func(o open) {
		for _, at := range o.sums {
			p.tokens[at].tight = o.depth > 1
		}
	}
	// The depth of arguments depends on how many there are.
	at := p.at[:0]
	for i := start; i < len(p.tokens); i++ {
		switch text := p.tokens[i].text; {
		case p.tokens[i].kind == bracket && !closes(text):
			at = append(at, i)
		case closes(text) && len(at) > 0:
			at = at[:len(at)-1]
		case text == "," && len(at) > 0:
			p.tokens[at[len(at)-1]].commas++
		}
	}
	p.at = at
	for i := start; i < len(p.tokens); i++ {
		l := p.tokens[i]
		top := &stack[len(stack)-1]
		switch {
		case l.text == "(" && l.kind == bracket:
			depth := top.depth
			if l.commas > 0 {
				depth++
			}
			stack = append(stack, open{at: i, depth: depth})
		case l.text == "[" && l.kind == bracket:
			stack = append(stack, open{at: i, depth: top.depth + 1})
		case l.text == "{" && l.kind == bracket:
			stack = append(stack, open{at: i, depth: 1})
		case l.kind == bracket: // closes
			if len(stack) == 1 || closer(p.tokens[top.at].text) != l.text {
				return "", false
			}
			settle(*top)
			stack = stack[:len(stack)-1]
		case l.kind == operator && l.text == "+":
			top.sums = append(top.sums, i)
		case l.kind == operator && len(top.sums) > 0 && l.text != "=" && l.text != ":=" && l.text != "+=":
			return "", false // a sum is compared
		}
	}
	for i := len(stack) - 1; i > 0; i-- {
		settle(stack[i])
		closers += closer(p.tokens[stack[i].at].text)
	}
	for _, at := range stack[0].sums {
		p.tokens[at].tight = false
	}
	for i, l := range p.tokens {
		if l.kind == operator && l.text == "+" && i+1 < len(p.tokens) && slices.ContainsFunc(p.tokens[:i], func(l lexeme) bool {
			return l.kind == operator && l.text != "=" && l.text != ":=" && l.text != "+" && l.text != "+="
		}) {
			return "", false
		}
	}
	return closers, true
}

func closer(bracket string) string {
	switch bracket {
	case "(":
		return ")"
	case "[":
		return "]"
	}
	return "}"
}

// opensBlock reports whether the last bracket of a line begins a block of statements, a
// struct or an interface, and no literal.
func (p *printer) opensBlock(line []lexeme) bool {
	if len(line) == 0 || line[len(line)-1].text != "{" {
		return false
	}
	return line[0].text == ";" || // behind a function that is called in a condition
		line[0].kind == keyword && line[0].text != "return" && line[0].text != "var" ||
		slices.ContainsFunc(line, func(l lexeme) bool {
			return l.kind == keyword && (l.text == "func" || l.text == "struct" || l.text == "interface")
		})
}

// hasBody reports whether a function with its body is on a line.
func hasBody(line []lexeme) bool {
	brace := slices.IndexFunc(line, func(l lexeme) bool { return l.text == "{" })
	return brace >= 0 && brace < len(line)-1 && slices.ContainsFunc(line[:brace], func(l lexeme) bool { return l.text == "func" })
}

// secondColumn returns where the second column of a line begins: the value of an
// element, or of a constant, or the type of a field; 0 where there is none.
func secondColumn(tokens []lexeme) int {
	if len(tokens) < 2 || tokens[0].kind != name {
		return 0
	}
	switch tokens[1].text {
	case ":":
		return 2
	case ".", "(", ",":
		return 0
	default:
		return 1
	}
}

// text joins the tokens from begin up to end.
func (p *printer) text(begin, end int) string {
	var b bytes.Buffer
	p.write(&b, begin, end, false)
	return b.String()
}

// write is text, into b. isBlock: the last token begins a block.
func (p *printer) write(b *bytes.Buffer, begin, end int, isBlock bool) {
	square := 0
	for i := begin; i < end; i++ {
		l := p.tokens[i]
		if i > begin && p.apart(i, end, isBlock, square > 0) {
			b.WriteByte(' ')
		}
		switch l.text {
		case "[":
			square++
		case "]":
			square--
		}
		b.WriteString(l.text)
	}
}

// apart reports whether a blank stands before a token.
func (p *printer) apart(i, end int, isBlock, inSquare bool) bool {
	a, b := p.tokens[i-1], p.tokens[i]
	next := ""
	if i+1 < len(p.tokens) {
		next = p.tokens[i+1].text
	}
	switch {
	case a.kind == prefix, a.kind == bracket && (a.text == "(" || a.text == "[" || a.text == "{"), a.kind == mark && (a.text == "." || a.text == "..."):
		return false
	case a.text == ":" && a.kind == mark:
		return !inSquare
	case a.text == "," && a.kind == mark, a.text == ";" && a.kind == mark:
		return true
	case b.kind == mark && b.text == "...":
		return next != ")"
	case b.kind == mark, b.kind == bracket && closes(b.text):
		return false
	case a.kind == operator:
		return !a.tight
	case b.kind == operator:
		return !b.tight
	case b.text == "{" && b.kind == bracket:
		return i == end-1 && isBlock
	case b.text == "(" && b.kind == bracket:
		return a.text == ")" || a.kind == keyword && (a.text != "func" || i == 1)
	case b.text == "[" && b.kind == bracket:
		return a.kind == keyword && a.text != "map" || next == "]" && (a.kind == name || a.text == ")")
	case a.kind == bracket && a.text == "]":
		return false
	}
	return true
}

// flush writes the lines that wait for the width of their columns.
func (p *printer) flush() {
	first, second := 0, 0
	for _, c := range p.column {
		first, second = max(first, utf8.RuneCountInString(c.first)), max(second, utf8.RuneCountInString(c.second))
	}
	for _, c := range p.column {
		p.indent(c.depth)
		p.out.WriteString(c.first)
		p.blanks(first - utf8.RuneCountInString(c.first) + 1)
		p.out.WriteString(c.second)
		if c.third != "" {
			p.blanks(second - utf8.RuneCountInString(c.second) + 1)
			p.out.WriteString(c.third)
		}
		p.out.WriteByte('\n')
	}
	p.column = p.column[:0]
}

func (p *printer) blanks(n int) {
	for range n {
		p.out.WriteByte(' ')
	}
}

func (p *printer) indent(depth int) {
	for range depth {
		p.out.WriteByte('\t')
	}
}
