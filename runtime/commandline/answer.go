package commandline

import (
	"bytes"
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
	chars        int   // length of all records in characters, written or omitted
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

// addRecord adds a record to the page. If the records so far have more characters than an answer may have, the record
// is omitted and only counted. Once the omitted records have more than maxRecordBytes, the error is [process.ErrEnough].
// Any other error says what is wrong with the record.
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
	if p.chars <= p.tool.MaxChars {
		p.written = append(p.written, shown...)
		p.ends = append(p.ends, len(p.written))
		return nil
	}
	p.full = true
	p.omitted++
	p.omittedBytes += len(shown)
	if p.omittedBytes > maxRecordBytes {
		p.uncounted = true
		return process.ErrEnough
	}
	return nil
}

// json returns a record as an item of a list in JSON. A comma comes before each record but the first.
func (p *page) json(record any) ([]byte, error) {
	var raw json.RawMessage
	switch record := record.(type) {
	case json.RawMessage:
		raw = record
	case singleValue:
		p.singles++
		raw = record.RawMessage
	default:
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

// openRoot returns a writer inside a root, for elements that are indented as in an envelope.
func openRoot() *envelope.Writer {
	w := &envelope.Writer{}
	w.Open("r") // a root of any name
	return w
}

// insideRoot returns the text that is written inside the root of a writer from openRoot.
func insideRoot(w *envelope.Writer) []byte {
	startTag := min(len("<r>"), len(w.Bytes())) // without elements, the ">" is missing
	return w.Bytes()[startTag:]
}

// element returns a record as an element of an envelope. A record that is not JSON is a string or a map of its fields.
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
	w := openRoot()
	err := p.tool.Envelope.Record.append(w, value)
	return insideRoot(w), err
}

// printed is a field of a record that is not JSON. Its text is parsed as the type of the attribute.
type printed string

// append writes the element of a record, as e describes it. A value of another form than e needs is an error.
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
		if err := e.Children[i].appendChildren(w, record); err != nil {
			return err
		}
	}
	w.Close()
	return nil
}

// appendChildren writes an element with a body for the value at e.From in record. If e is for many values, the value is
// an array or absent, and each item gets an element. An optional element without text is left out.
func (e *Element) appendChildren(w *envelope.Writer, record any) error {
	value, err := follow(record, e.From)
	if err != nil {
		return err
	}
	items := []any{value}
	if e.Many {
		list, isList := value.([]any)
		if value != nil && !isList {
			return fmt.Errorf("%s is no array", strings.Join(e.From, "."))
		}
		items = list
	}
	for _, item := range items {
		body := asText(item)
		if body == "" && e.Optional {
			continue
		}
		e.open(w)
		w.Body(e.Body, body)
		w.Close()
	}
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

// append writes the attribute with the value at a.From in record, or without a.From with the attribute's fixed value.
// A value of another type than the attribute's is an error.
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

// write writes the attribute with a value; nil means that the value is absent. A nullable attribute is left out if its
// value is nil, and an optional attribute if its value is zero.
func (a *Attribute) write(w *envelope.Writer, value any) error {
	if field, ok := value.(printed); ok {
		parsed, err := a.parse(string(field))
		if err != nil {
			return err
		}
		value = parsed
	}
	if value == nil && a.Presence == "nullable" {
		return nil
	}
	shown, err := a.typed(value)
	if err != nil {
		return err
	}
	if a.Presence == "optional" && reflect.ValueOf(shown).IsZero() {
		return nil
	}
	w.Attribute(a.Name, shown)
	return nil
}

// typed converts a value to the type of the attribute, nil to the zero value. The error says which type is expected.
func (a *Attribute) typed(value any) (any, error) {
	expected := "a string"
	switch a.Type {
	case "integer":
		if n, ok := coerce.Int(value); ok {
			return n, nil
		}
		if count, ok := value.(int); ok || value == nil { // an int is a count of this package
			return count, nil
		}
		expected = "an integer"
	case "boolean":
		if yes, ok := value.(bool); ok || value == nil {
			return yes, nil
		}
		expected = "a boolean"
	case "time":
		s, ok := value.(string)
		if value == nil || ok && s == "" {
			return time.Time{}, nil
		}
		if ok {
			t, err := time.Parse(time.RFC3339, s)
			if err != nil {
				return nil, fmt.Errorf("is %s, which is no time in RFC 3339", text.Cut(coerce.JSON(s), maxShown))
			}
			return t, nil
		}
		expected = "a time"
	default:
		if s, ok := value.(string); ok || value == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("is a JSON %s where %s is expected", kindOf(value), expected)
}

// parse returns the value of a field with the text s: an int, a bool or a string, as the type of the attribute says. A
// time stays a string, without white space around it. An empty text is nil, unless the type is string.
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

// kindOf returns the JSON type of a value that is not nil.
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

// follow returns the value at a path in a record; nil if it is null or absent. A step is the name of a member, the
// index of an item, or EveryItem. A step that does not fit its value, such as a name in an array, is an error.
func follow(value any, path []string) (any, error) {
	if len(path) == 0 || value == nil {
		return value, nil
	}
	step, rest := path[0], path[1:]
	object, isObject := value.(map[string]any)
	array, isArray := value.([]any)
	switch {
	case step == EveryItem && isArray:
		return followAll(array, rest)
	case step == EveryItem:
		return nil, errors.New("items are looked for in a value that is no array")
	case isObject:
		return follow(object[step], rest)
	case !isArray:
		return nil, fmt.Errorf("%s is looked for in a value that is no object", step)
	}
	i, err := strconv.Atoi(step)
	if err != nil {
		return nil, fmt.Errorf("%s is looked for in an array", step)
	}
	if i < 0 || i >= len(array) {
		return nil, nil
	}
	return follow(array[i], rest)
}

// followAll returns the values at a path in each item, without absent values, and with the items of arrays among them.
func followAll(items []any, path []string) ([]any, error) {
	all := []any{}
	for _, item := range items {
		value, err := follow(item, path)
		if err != nil {
			return nil, err
		}
		switch value := value.(type) {
		case nil:
		case []any:
			all = append(all, value...)
		default:
			all = append(all, value)
		}
	}
	return all, nil
}

// document returns the answer with as many records as fit. The error says that the answer's one value does not fit or,
// if the answer may have any number of records, that even an answer without records does not. args are the arguments of
// the call. The answer has all notes. stopped is true if the program was stopped because nothing more could be shown.
func (p *page) document(args coerce.Object, notes []string, stopped bool) (string, error) {
	if p.isSingle() && p.full { // the value did not fit into the page
		return "", p.tool.tooLong("it is one value, of which there is no part")
	}
	fewest := 0
	if p.isSingle() {
		fewest = 1 // an answer without its one value says nothing
	}
	for kept := len(p.ends); kept >= fewest; kept-- {
		document := p.documentOf(kept, args, notes, stopped)
		if utf8.RuneCountInString(document) <= p.tool.MaxChars {
			return document, nil
		}
	}
	return "", p.tool.tooLong("there is no room for a record")
}

// documentOf returns the answer with the first kept records, and with a note if the program printed more records.
func (p *page) documentOf(kept int, args coerce.Object, notes []string, stopped bool) string {
	if hasMore := kept < len(p.ends) || p.full; hasMore { // in the page, or a record did not fit into the page
		notes = append(slices.Clip(notes), p.omittedNote(kept, stopped))
	}
	var records []byte
	if kept > 0 {
		records = p.written[:p.ends[kept-1]]
	}
	if p.tool.Envelope.Root == "" {
		return p.list(records, notes)
	}
	return p.tool.Envelope.document(args, records, kept, notes)
}

// omittedNote returns the note of an answer that shows only the first kept records.
func (p *page) omittedNote(kept int, stopped bool) string {
	known := len(p.ends) + p.omitted // the records that were read
	if stopped {                     // the number of all records is not known
		return fmt.Sprintf("Showing the first %d records: more would take this answer over its limit of %d characters, so the program was stopped before it had printed all.%s", kept, p.tool.MaxChars, p.tool.askForLess())
	}
	if p.uncounted { // there are known records or more: more than known-1
		return fmt.Sprintf("Showing the first %d of more than %d records: the rest would take this answer over its limit of %d characters.%s", kept, known-1, p.tool.MaxChars, p.tool.askForLess())
	}
	return fmt.Sprintf("Showing %d of %d records: the rest would take this answer over its limit of %d characters.%s", kept, known, p.tool.MaxChars, p.tool.askForLess())
}

// list returns an answer in JSON: an object with the records, or with the single value, and the notes.
func (p *page) list(records []byte, notes []string) string {
	document := `{"records":[` + string(records) + "]"
	if p.isSingle() {
		document = `{"value":` + string(records)
	}
	if len(notes) > 0 {
		document += `,"notes":` + coerce.JSON(notes)
	}
	return document + "}"
}

// document returns an answer: the root with its attributes, the records and the notes. records is the text of count
// elements, as insideRoot returns it. With e.NotesFirst, the notes come before the records.
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
	noteWriter := openRoot() // insideRoot drops the root
	for _, note := range notes {
		e.Note.open(noteWriter)
		noteWriter.Body(e.Note.Body, note)
		noteWriter.Close()
	}
	if count == 0 && len(notes) == 0 {
		w.Close()
		return string(w.Bytes())
	}
	inside := string(records) + string(insideRoot(noteWriter))
	if e.NotesFirst {
		inside = string(insideRoot(noteWriter)) + string(records)
	}
	last := e.Note // the element at the end of inside
	if count > 0 && (e.NotesFirst || len(notes) == 0) {
		last = e.Record
	}
	if !last.Beside { // an element on a line of its own: so is the end tag of the root
		inside += "\n"
	}
	return string(w.Bytes()) + ">" + inside + "</" + e.Root + ">" // w writes the ">" of the start tag only before content
}
