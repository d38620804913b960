package commandline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/process"
)

// page collects the records of an answer as they come.
type page struct {
	tool         *Tool
	written      []byte
	ends         []int // the end of each record in written
	chars        int   // length of written in characters
	full         bool  // a record did not fit
	omitted      int   // number of records that did not fit
	omittedBytes int   // their length
	uncounted    bool  // reading stopped: there may be more records than omitted
	singles      int   // number of records that are a singleValue
}

// isSingle reports whether the output is one value in JSON that is no list.
func (p *page) isSingle() bool { return p.singles == 1 }

// singleValue is a record that is a JSON value by itself, not an item of a list.
type singleValue struct{ json.RawMessage }

// addRecord writes a record, unless a record before it did not fit or the answer would be over its limit. Omitted
// records are counted until they have more than longest bytes: then the error is [process.ErrEnough]. Any other error
// says what is wrong with the record.
func (p *page) addRecord(record any) error {
	var shown []byte
	var err error
	if p.tool.Envelope.Root == "" {
		shown, err = p.json(record)
	} else {
		shown, err = p.element(record)
	}
	if err != nil {
		return fmt.Errorf("record %d: %w", len(p.ends)+p.omitted+1, err)
	}
	p.chars += utf8.RuneCount(shown)
	if p.full = p.full || p.chars > p.tool.MaxChars; p.full {
		p.omitted++
		if p.omittedBytes += len(shown); p.omittedBytes > longest {
			p.uncounted = true
			return process.ErrEnough
		}
		return nil
	}
	p.written = append(p.written, shown...)
	p.ends = append(p.ends, len(p.written))
	return nil
}

// json returns a record as an item of a list in JSON: after the first record, a comma comes before it.
func (p *page) json(record any) ([]byte, error) {
	raw, ok := record.(json.RawMessage)
	if single, isSingle := record.(singleValue); isSingle {
		p.singles++
		raw, ok = single.RawMessage, true
	}
	if !ok {
		return nil, errors.New("it is no JSON")
	}
	var b bytes.Buffer
	if len(p.ends) > 0 {
		b.WriteByte(',')
	}
	if err := json.Compact(&b, raw); err != nil {
		return nil, err
	}
	return text.JSON(b.Bytes()), nil
}

// inRoot returns the text that write adds inside the root of an envelope, indented as there.
func inRoot(write func(w *envelope.Writer)) []byte {
	var w envelope.Writer
	w.Open("r") // a root of any name
	begin := len("<r>")
	write(&w)
	return w.Bytes()[min(begin, len(w.Bytes())):]
}

// element returns a record as an element of an envelope.
func (p *page) element(record any) ([]byte, error) {
	var value any
	switch record := record.(type) {
	case json.RawMessage:
		dec := json.NewDecoder(bytes.NewReader(record))
		dec.UseNumber()
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
	case map[string]string:
		fields := map[string]any{}
		for name, field := range record {
			fields[name] = printed(field)
		}
		value = fields
	case string:
		value = printed(record)
	}
	if value == nil {
		return nil, errors.New("it is null")
	}
	var err error
	written := inRoot(func(w *envelope.Writer) { err = p.tool.Envelope.Record.append(w, value) })
	return written, err
}

// printed is a field of a record that is not JSON. Its text is parsed as the type of the attribute.
type printed string

// append writes the element of a record: its attributes, its body and its children. The error is for a value that is
// missing where the spec has one, or of another type.
func (e *Element) append(w *envelope.Writer, record any) error {
	e.open(w)
	for i := range e.Attributes {
		if err := e.Attributes[i].append(w, record); err != nil {
			return err
		}
	}
	if e.Body != "" {
		value, err := follow(record, e.From)
		if err != nil {
			return err
		}
		w.Body(e.Body, asText(value))
	}
	for i := range e.Children {
		child := &e.Children[i]
		value, err := follow(record, child.From)
		if err != nil {
			return err
		}
		items := []any{value}
		if child.Many {
			list, isList := value.([]any)
			if !isList && value != nil {
				return fmt.Errorf("%s is no array", strings.Join(child.From, "."))
			}
			items = list
		}
		for _, item := range items {
			if text := asText(item); text != "" || !child.Optional {
				child.open(w)
				w.Body(child.Body, text)
				w.Close()
			}
		}
	}
	w.Close()
	return nil
}

func (e *Element) open(w *envelope.Writer) {
	if e.Beside {
		w.OpenBeside(e.Name)
	} else {
		w.Open(e.Name)
	}
}

// asText returns a value for a body: a text as it is, null as nothing, anything else as JSON.
func asText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case printed:
		return string(v)
	}
	return coerce.JSON(v)
}

// append writes the attribute of a record, or its fixed value. The error is for a value of another type.
func (a *Attribute) append(w *envelope.Writer, record any) error {
	if a.From == nil {
		return a.write(w, a.Fixed)
	}
	value, err := follow(record, a.From)
	if err != nil {
		return err
	}
	if err := a.write(w, value); err != nil {
		return fmt.Errorf("%s %w", strings.Join(a.From, "."), err)
	}
	return nil
}

// write writes the attribute with a value. Presence says whether it leaves out the attribute of an absent value, nil,
// or writes an empty text, 0 or false.
func (a *Attribute) write(w *envelope.Writer, value any) error {
	if field, ok := value.(printed); ok {
		var err error
		if value, err = a.parse(string(field)); err != nil {
			return err
		}
	}
	if value == nil && a.Presence == "nullable" {
		return nil
	}
	shown, err := a.typed(value)
	if err == nil && (a.Presence != "optional" || !reflect.ValueOf(shown).IsZero()) {
		w.Attribute(a.Name, shown)
	}
	return err
}

// typed converts a value to the type of the attribute. Nil, and an empty text for a time, become the zero value. The
// error says which type is expected.
func (a *Attribute) typed(value any) (shown any, err error) {
	ok := false
	switch a.Type {
	case "integer":
		var n int64
		if n, ok = coerce.Int(value); ok {
			shown = n
		} else if count, isCount := value.(int); isCount || value == nil { // a count of this package, or 0 for nil
			shown, ok = count, true
		}
	case "boolean":
		shown, ok = value.(bool)
	case "time":
		var s string
		if s, ok = value.(string); s == "" {
			shown = time.Time{}
		} else if shown, err = time.Parse(time.RFC3339, s); err != nil {
			return nil, fmt.Errorf("is %s, which is no time in RFC 3339", text.Cut(coerce.JSON(s), maxShown))
		}
	default:
		shown, ok = value.(string)
	}
	if !ok && value != nil {
		return nil, fmt.Errorf("is a JSON %s where %s is expected", kindOf(value), cmp.Or(map[string]string{"integer": "an integer", "boolean": "a boolean", "time": "a time"}[a.Type], "a string"))
	}
	return shown, nil
}

// parse returns a field that is not JSON as a value of the attribute's type: an int, a bool, or a string, which typed
// parses if it is a time. An empty field is nil, unless the type is string.
func (a *Attribute) parse(s string) (any, error) {
	trimmed := strings.TrimSpace(s)
	switch {
	case a.Type == "string":
		return s, nil
	case s == "":
		return nil, nil
	case a.Type == "integer":
		n, err := strconv.Atoi(trimmed)
		if err != nil {
			return nil, fmt.Errorf("is %s, which is no integer", text.Cut(coerce.JSON(s), maxShown))
		}
		return n, nil
	case a.Type == "boolean":
		yes, err := strconv.ParseBool(trimmed)
		if err != nil {
			return nil, fmt.Errorf("is %s, which is neither true nor false", text.Cut(coerce.JSON(s), maxShown))
		}
		return yes, nil
	}
	return trimmed, nil
}

func kindOf(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "string"
}

// follow returns the value at a path in a record, or nil if that value is null or absent. The values behind EveryItem
// form one array: arrays among them are flattened, and absent values are left out. The error is for a step that does
// not fit its value, such as a name in an array.
func follow(value any, path []string) (any, error) {
	if len(path) == 0 || value == nil {
		return value, nil
	}
	switch v := value.(type) {
	case map[string]any:
		if path[0] == EveryItem {
			return nil, errors.New("items are looked for in a value that is no array")
		}
		return follow(v[path[0]], path[1:])
	case []any:
		if path[0] != EveryItem {
			i, err := strconv.Atoi(path[0])
			if err != nil {
				return nil, fmt.Errorf("%s is looked for in an array", path[0])
			}
			if i < 0 || i >= len(v) {
				return nil, nil
			}
			return follow(v[i], path[1:])
		}
		found := []any{}
		for _, item := range v {
			inner, err := follow(item, path[1:])
			if err != nil {
				return nil, err
			}
			switch inner := inner.(type) {
			case nil:
			case []any:
				found = append(found, inner...)
			default:
				found = append(found, inner)
			}
		}
		return found, nil
	}
	if path[0] == EveryItem {
		return nil, errors.New("items are looked for in a value that is no array")
	}
	return nil, fmt.Errorf("%s is looked for in a value that is no object", path[0])
}

// document returns the answer with as many records as fit, or an error if not even an answer without records fits or a
// single value does not. args are the arguments of the call, notes what the answer has to include; stopped is true if
// the program was stopped because nothing more could be shown.
func (p *page) document(args coerce.Object, notes []string, stopped bool) (string, error) {
	if p.isSingle() && p.full {
		return "", p.tool.tooLong("it is one value, of which there is no part")
	}
	for kept := len(p.ends); kept >= 0; kept-- {
		allNotes := notes
		if kept < len(p.ends) || p.full {
			allNotes = append(slices.Clip(notes), p.omittedNote(kept, stopped))
		}
		end := 0
		if kept > 0 {
			end = p.ends[kept-1]
		}
		var document string
		if p.tool.Envelope.Root == "" {
			document = p.list(p.written[:end], allNotes)
		} else {
			document = p.tool.Envelope.document(args, p.written[:end], kept, allNotes)
		}
		if utf8.RuneCountInString(document) <= p.tool.MaxChars {
			return document, nil
		}
		if p.isSingle() {
			break // an answer without its one value says nothing
		}
	}
	return "", p.tool.tooLong("there is no room for a record")
}

// omittedNote returns the note of an answer that shows only the first kept records.
func (p *page) omittedNote(kept int, stopped bool) string {
	if stopped {
		return fmt.Sprintf("Showing the first %d records: more would take this answer over its limit of %d characters, so the program was stopped before it had printed all.%s", kept, p.tool.MaxChars, p.tool.askForLess())
	}
	if p.uncounted {
		return fmt.Sprintf("Showing the first %d of more than %d records: the rest would take this answer over its limit of %d characters.%s", kept, len(p.ends)+p.omitted-1, p.tool.MaxChars, p.tool.askForLess())
	}
	return fmt.Sprintf("Showing %d of %d records: the rest would take this answer over its limit of %d characters.%s", kept, len(p.ends)+p.omitted, p.tool.MaxChars, p.tool.askForLess())
}

// list returns an answer in JSON: an object with the records, or with the single value, and the notes.
func (p *page) list(records []byte, notes []string) string {
	var b strings.Builder
	if p.isSingle() {
		b.WriteString(`{"value":`)
	} else {
		b.WriteString(`{"records":[`)
	}
	b.Write(records)
	if !p.isSingle() {
		b.WriteByte(']')
	}
	if len(notes) > 0 {
		b.WriteString(`,"notes":` + coerce.JSON(notes))
	}
	b.WriteByte('}')
	return b.String()
}

// document returns an answer in elements. records are count elements, as inRoot returns them.
func (e *Envelope) document(args coerce.Object, records []byte, count int, notes []string) string {
	var w envelope.Writer
	w.Open(e.Root)
	for i := range e.Attributes {
		a := &e.Attributes[i]
		var value any = a.Fixed
		switch {
		case a.Count:
			value = count
		case a.Param != "":
			value, _ = args.Get(a.Param)
		}
		_ = a.write(&w, value) // the types were checked with the spec
	}
	w.Attribute("untrusted", true)
	noteElements := inRoot(func(w *envelope.Writer) {
		for _, note := range notes {
			e.Note.open(w)
			w.Body(e.Note.Body, note)
			w.Close()
		}
	})
	inside, last := slices.Concat(records, noteElements), e.Note
	if e.NotesFirst {
		inside = slices.Concat(noteElements, records)
	}
	if count > 0 && (e.NotesFirst || len(notes) == 0) {
		last = e.Record
	}
	switch {
	case len(inside) == 0:
		w.Close()
		return string(w.Bytes())
	case last.Beside: // so is the end of the root
		return string(w.Bytes()) + ">" + string(inside) + "</" + e.Root + ">"
	}
	return string(w.Bytes()) + ">" + string(inside) + "\n</" + e.Root + ">"
}
