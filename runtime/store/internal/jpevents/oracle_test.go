package jpevents_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// This file implements the package a second time with encoding/json, slowly, and without calling it.

type oracleEvent struct {
	kind     string
	turn     int
	object   map[string]any // numbers are json.Number
	raw      json.RawMessage
	text     string
	encoding string
}

// oracle reads a valid stream.
func oracle(data []byte) ([]oracleEvent, error) {
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return nil, err
	}
	var events []oracleEvent
	for _, raw := range raws {
		e := oracleEvent{raw: raw}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&e.object); err != nil {
			return nil, err
		}
		if e.object == nil {
			return nil, fmt.Errorf("an element is null")
		}
		e.kind = oracleKind(e.object)
		e.text, e.encoding = oracleText(e.kind, e.object, raw)
		events = append(events, e)
	}
	numberTurns(events)
	return events, nil
}

// numberTurns first finds the first typed event, then counts markers.
func numberTurns(events []oracleEvent) {
	first := -1
	for i, e := range events {
		if first < 0 && !isGlobal(e.kind) {
			first = i
		}
	}
	for i := range events {
		if isGlobal(events[i].kind) {
			continue
		}
		events[i].turn = 1
		for j := first + 1; j <= i; j++ {
			if events[j].kind == "turn_start" {
				events[i].turn++
			}
		}
	}
}

func isGlobal(kind string) bool {
	return kind == "unknown" || kind == "config_delta" || kind == "compaction"
}

func oracleKind(o map[string]any) string {
	name, _ := o["type"].(string)
	kinds := map[string]string{
		"turn_start": "turn_start", "chat_request": "user", "chat_response": "assistant", "tool_call_request": "tool_call",
		"tool_call_response": "tool_result", "inquiry_request": "inquiry", "inquiry_response": "inquiry_response",
		"config_delta": "config_delta", "compaction": "compaction",
	}
	kind, ok := kinds[name]
	if !ok {
		return "unknown"
	}
	if kind == "assistant" {
		if _, ok := o["message"].(string); ok {
			return "assistant"
		}
		if _, ok := o["reasoning"].(string); ok {
			return "reasoning"
		}
		if _, ok := o["data"]; ok {
			return "structured"
		}
	}
	return kind
}

func oracleText(kind string, o map[string]any, raw json.RawMessage) (text, encoding string) {
	str := func(key string) string { s, _ := o[key].(string); return s }
	switch kind {
	case "user":
		return str("content"), ""
	case "assistant":
		return str("message"), ""
	case "reasoning":
		return str("reasoning"), ""
	case "structured":
		return str("data"), ""
	case "tool_result":
		return oracleDecode(str("content"))
	case "inquiry":
		if q, ok := o["question"].(map[string]any); ok {
			text, _ := q["text"].(string)
			return text, ""
		}
		return str("question"), ""
	case "tool_call":
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			panic(err)
		}
		args, ok := fields["arguments"]
		if compact := compactJSON(args); !ok || compact == "{}" || compact == "[]" {
			return str("name"), ""
		}
		p := oraclePrinter{dec: json.NewDecoder(bytes.NewReader(args))}
		p.dec.UseNumber()
		p.value(0)
		return str("name") + "\n" + p.out.String(), p.encoding
	}
	return "", ""
}

func compactJSON(raw []byte) string {
	var b bytes.Buffer
	_ = json.Compact(&b, raw)
	return b.String()
}

// oraclePrinter prints a value token by token, to keep the order of keys.
type oraclePrinter struct {
	dec      *json.Decoder
	out      strings.Builder
	encoding string
}

func (p *oraclePrinter) value(depth int) {
	token, err := p.dec.Token()
	if err != nil {
		panic(err)
	}
	indent := func(n int) { p.out.WriteString("\n" + strings.Repeat("  ", n)) }
	switch v := token.(type) {
	case json.Delim:
		closing := map[json.Delim]string{'{': "}", '[': "]"}[v]
		p.out.WriteString(v.String())
		empty := true
		for p.dec.More() {
			if !empty {
				p.out.WriteString(",")
			}
			empty = false
			indent(depth + 1)
			if v == '{' {
				key, _ := p.dec.Token()
				p.out.WriteString(oracleQuote(key.(string)) + ": ")
			}
			p.value(depth + 1)
		}
		_, _ = p.dec.Token()
		if !empty {
			indent(depth)
		}
		p.out.WriteString(closing)
	case string:
		text, enc := oracleDecode(v)
		if enc != "" {
			p.encoding = enc
		}
		p.out.WriteString(oracleQuote(text))
	case json.Number:
		p.out.WriteString(v.String())
	default:
		b, _ := json.Marshal(v)
		p.out.Write(b)
	}
}

// oracleQuote quotes without HTML escapes. encoding/json also escapes the two
// line separators of JavaScript, which JSON does not ask for.
func oracleQuote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	quoted := strings.TrimSuffix(b.String(), "\n")
	var out strings.Builder
	for i := 0; i < len(quoted); i++ {
		switch {
		case strings.HasPrefix(quoted[i:], `\u2028`):
			out.WriteString("\u2028")
			i += 5
		case strings.HasPrefix(quoted[i:], `\u2029`):
			out.WriteString("\u2029")
			i += 5
		case quoted[i] == '\\':
			out.WriteString(quoted[i : i+2])
			i++
		default:
			out.WriteByte(quoted[i])
		}
	}
	return out.String()
}

// oracleDecode decodes a stored string.
func oracleDecode(s string) (text, encoding string) {
	if !strings.ContainsAny(s, "\r\n") {
		for _, enc := range []*base64.Encoding{base64.StdEncoding.Strict(), base64.URLEncoding.Strict()} {
			if b, err := enc.DecodeString(s); err == nil {
				if utf8.Valid(b) {
					return string(b), ""
				}
				return s, "base64"
			}
		}
	}
	return s, ""
}

// oracleJSON returns the decoded value of an event that print shows.
func oracleJSON(e oracleEvent, omitMetadata bool) map[string]any {
	out := map[string]any{}
	typed := !isGlobal(e.kind)
	encoding := ""
	leaf := func(decode bool) func(string) string {
		return func(s string) string {
			if decode {
				var enc string
				if s, enc = oracleDecode(s); enc != "" {
					encoding = enc
				}
			}
			return s
		}
	}
	decodeOnly := func(s string) string { s, _ = oracleDecode(s); return s }
	main := map[string]string{"user": "content", "tool_result": "content", "assistant": "message", "reasoning": "reasoning"}[e.kind]
	for key, value := range e.object {
		text, isString := value.(string)
		switch {
		case key == "turn" || key == "encoding" || key == "chars" || key == "head_chars" || key == "cut":
		case key == "timestamp":
		case key == "metadata":
			if typed {
				value = mapStrings(value, decodeOnly)
			}
			if !omitMetadata {
				out[key] = value
			}
		case typed && key == main && isString:
			if e.kind == "tool_result" {
				var enc string
				if text, enc = oracleDecode(text); enc != "" {
					encoding = enc
				}
			}
			out[key] = text
		case key == "arguments" || key == "content" || key == "message" || key == "reasoning" || key == "data":
			decode := key == "arguments" && e.kind == "tool_call" || key == "content" && e.kind == "tool_result"
			out[key] = mapStrings(value, leaf(decode))
		default:
			out[key] = value
		}
	}
	out["timestamp"] = nil
	if s, ok := e.object["timestamp"].(string); ok {
		out["timestamp"] = s
	}
	out["turn"] = json.Number(fmt.Sprint(e.turn))
	if encoding != "" {
		out["encoding"] = encoding
	}
	return out
}

// mapStrings applies f to every string value, but not to keys.
func mapStrings(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mapStrings(v[i], f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = mapStrings(v[key], f)
		}
		return out
	}
	return v
}
