package conversationcli

// indenter lays out compact JSON over several lines, as json.Indent does with
// two spaces, but part by part: an object may be larger than should be held in
// memory twice.
type indenter struct {
	depth    int
	inString bool
	escaped  bool // the last byte was a backslash in a string
	opened   bool // the last byte was an opening bracket
	buf      []byte
}

// lay returns the layout of the next part, valid until the next call.
func (l *indenter) lay(part []byte) []byte {
	b := l.buf[:0]
	for _, c := range part {
		if l.inString {
			b = append(b, c)
			switch {
			case l.escaped:
				l.escaped = false
			case c == '\\':
				l.escaped = true
			case c == '"':
				l.inString = false
			}
			continue
		}
		closing := c == '}' || c == ']'
		if closing {
			l.depth--
		}
		if l.opened != closing && (l.opened || closing) {
			b = l.newline(b)
		}
		l.opened = c == '{' || c == '['
		b = append(b, c)
		switch c {
		case '{', '[':
			l.depth++
		case '"':
			l.inString = true
		case ',':
			b = l.newline(b)
		case ':':
			b = append(b, ' ')
		}
	}
	l.buf = b
	return b
}

func (l *indenter) newline(b []byte) []byte {
	b = append(b, '\n')
	for range l.depth {
		b = append(b, "  "...)
	}
	return b
}
