package jpevents_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf16"
)

// generator writes random streams: valid JSON in every spelling, with kinds, missing and repeated
// keys, encodings and texts mixed.
type generator struct {
	*rand.Rand
	b strings.Builder
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) stream() []byte {
	g.b.Reset()
	g.space()
	g.b.WriteByte('[')
	g.space()
	for i := range g.IntN(12) {
		if i > 0 {
			g.b.WriteByte(',')
			g.space()
		}
		g.event()
		g.space()
	}
	g.b.WriteByte(']')
	g.space()
	return []byte(g.b.String())
}

func (g *generator) event() {
	type field struct {
		key   string
		value func()
	}
	text := func() { g.quote(g.text()) }
	anything := func() { g.value(2) }
	stored := func() { g.storedValue(0) }
	var fields []field
	add := func(percent int, key string, value func()) {
		if g.chance(percent) {
			fields = append(fields, field{key, value})
		}
		if g.chance(3) {
			fields = append(fields, field{key, pick(g, value, anything)})
		}
	}
	name := pick(g, "turn_start", "turn_start", "chat_request", "chat_response", "chat_response", "tool_call_request", "tool_call_request",
		"tool_call_response", "inquiry_request", "inquiry_response", "config_delta", "compaction", "telemetry", "")
	add(97, "type", func() { g.quote(name) })
	add(97, "timestamp", func() { g.quote("2026-05-29 19:42:36." + fmt.Sprint(g.IntN(1e9))) })
	add(20, "metadata", func() { g.storedValue(2) })
	add(10, pick(g, "turn", "encoding", "chars", "head_chars", "cut", "x", "Type"), anything)
	switch name {
	case "chat_request":
		add(95, "content", text)
	case "chat_response":
		add(40, "message", text)
		add(40, "reasoning", text)
		add(30, "data", pick(g, text, anything))
	case "tool_call_request":
		add(95, "name", text)
		add(95, "id", text)
		add(90, "arguments", func() { g.storedObject(2) })
	case "tool_call_response":
		add(95, "content", stored)
		add(95, "is_error", func() { g.b.WriteString(pick(g, "true", "false")) })
	case "inquiry_request":
		add(90, "question", pick(g, text, anything, func() {
			g.b.WriteByte('{')
			g.key("text")
			text()
			g.b.WriteByte(',')
			g.key(pick(g, "text", "answer_type"))
			anything()
			g.b.WriteByte('}')
		}))
	case "inquiry_response":
		add(90, "answer", anything)
	default:
		add(20, "content", stored)
		add(20, "arguments", func() { g.storedObject(1) })
	}
	g.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	g.b.WriteByte('{')
	g.space()
	for i, f := range fields {
		if i > 0 {
			g.b.WriteByte(',')
			g.space()
		}
		g.key(f.key)
		f.value()
		g.space()
	}
	g.b.WriteByte('}')
}

func (g *generator) key(name string) {
	g.quote(name)
	g.space()
	g.b.WriteByte(':')
	g.space()
}

func (g *generator) space() {
	if g.chance(40) {
		g.b.WriteString(pick(g, " ", "\n", "\t", "\r\n  ", "\n    "))
	}
}

// value writes any JSON value.
func (g *generator) value(depth int) { g.nested(depth, func() { g.quote(g.text()) }) }

// storedValue and storedObject write values whose strings JP encodes.
func (g *generator) storedValue(depth int) { g.nested(depth, func() { g.quote(g.stored()) }) }

func (g *generator) storedObject(depth int) {
	g.container('{', depth, func() { g.quote(g.stored()) })
}

func (g *generator) nested(depth int, str func()) {
	if depth > 0 && g.chance(50) {
		g.container(pick[byte](g, '{', '['), depth, str)
		return
	}
	switch g.IntN(8) {
	case 0:
		g.b.WriteString(pick(g, "true", "false", "null"))
	case 1:
		g.b.WriteString(pick(g, "0", "-0", "12", "-1.50", "1e9", "2E-07", "0.1e+3", "123456789012345678901234567890"))
	default:
		str()
	}
}

func (g *generator) container(open byte, depth int, str func()) {
	g.b.WriteByte(open)
	g.space()
	for i := range g.IntN(4) {
		if i > 0 {
			g.b.WriteByte(',')
			g.space()
		}
		if open == '{' {
			g.key(fmt.Sprint(g.text(), i)) // distinct: a map cannot tell what was repeated
		}
		g.nested(depth-1, str)
		g.space()
	}
	g.b.WriteByte(open + 2)
}

// text returns valid or nearly valid text; invalid bytes are added by quote.
func (g *generator) text() string {
	var b strings.Builder
	for range g.IntN(5) {
		b.WriteString(pick(g, "a", "Hello, world", "東京", "😀", "\n", "\r\n", "\t", `"`, `\`, "/", "<b>&amp;</b>", "\x00", "\x1b[31m",
			"\u2028", "\ufffd", "é", "e\u0301", "aGVsbG8=", strings.Repeat("long ", 8), "\x7f"))
	}
	return b.String()
}

// stored returns a string as it may be recorded where JP writes base64.
func (g *generator) stored() string {
	text := g.text()
	switch g.IntN(8) {
	case 0:
		return text
	case 1:
		return base64.URLEncoding.EncodeToString([]byte(text + "?>~~~ÿ"))
	case 2:
		return base64.StdEncoding.EncodeToString([]byte(text + "\xff\xfe" + text))
	case 3:
		return base64.RawStdEncoding.EncodeToString([]byte(text))
	case 4:
		encoded := base64.StdEncoding.EncodeToString([]byte(text))
		at := g.IntN(len(encoded) + 1)
		return encoded[:at] + pick(g, "\n", "\r", "=", "-", "_", "/", "+", "A", " ") + encoded[at:]
	}
	return base64.StdEncoding.EncodeToString([]byte(text))
}

// quote writes text as a JSON string, choosing among the spellings of each
// character, and now and then something that is not text at all.
func (g *generator) quote(text string) {
	g.b.WriteByte('"')
	escapeAll := g.chance(10)
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			g.b.WriteString(pick(g, `\`+string(r), fmt.Sprintf(`\u%04x`, r)))
		case r == '\n':
			g.b.WriteString(pick(g, `\n`, `\u000A`))
		case r == '\t':
			g.b.WriteString(`\t`)
		case r == '/' && g.chance(30):
			g.b.WriteString(`\/`)
		case r < ' ', escapeAll && r < 0x10000:
			fmt.Fprintf(&g.b, `\u%04x`, r)
		case escapeAll:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&g.b, `\u%04X\u%04x`, hi, lo)
		default:
			g.b.WriteRune(r)
		}
	}
	if g.chance(2) {
		g.b.WriteString(pick(g, "\xff", "\xe6\x9d", `\ud83d`, `\ude00`, `\ud83d\n`, `\ude00\ud83d`))
	}
	g.b.WriteByte('"')
}
