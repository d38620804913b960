// Package output is what generated code needs of a tool whose work is a command line: what
// a program printed becomes records, an exit code becomes an error, and an answer keeps to
// its size.
//
// It runs nothing, and never takes a part of what was printed for all of it.
package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/contract"
)

// Forms of what a command line prints. The zero form is an array in JSON, or an object
// with one in its member data.
const (
	JSON       = "json"        // one value, with the array of records at Path
	JSONObject = "json_object" // one value, with the one record at Path
	JSONLines  = "json_lines"  // a record on each line
	Delimited  = "delimited"   // records that end with End, of fields with Separator between them
	Regexp     = "regexp"      // a record on each line, whose fields are the groups of Pattern
	Text       = "text"        // one record, with the whole text
)

// Shape is how a command line prints its records.
type Shape struct {
	Form string
	// Path leads to the records within JSON, as that of a field does within a record.
	Path []string
	// MayBeAbsent reports whether no text, and null or nothing at Path, are no records.
	MayBeAbsent    bool
	Fields         []Field
	Separator, End string
	Pattern        string
	Skip           string // pattern of lines or records that are none
}

// Field is a field of a record. Where records are JSON, those that stand right
// in a record need none; where they are not, a record without fields is a text.
type Field struct {
	Name string // key that the record is read by
	Type string // "string", "integer", "boolean" or "time", where the record is no JSON
	// Path leads to it within JSON: each step is a member of an object, the number of
	// an item of an array, or [EveryItem].
	Path []string
}

// maxShown is how many characters of what was printed an error repeats.
const maxShown = 80

// EveryItem is the step of a path that leads to all items of an array.
const EveryItem = "[]"

// Decode reads what a command line printed into records, a pointer to a slice.
// What is not of the form it should have is an error: half an answer must not look
// like a short one. No text at all is no records, except where it should be JSON.
func Decode(tool, cli string, output Shape, stdout []byte, records any) error {
	array, err := output.array(stdout)
	if err == nil {
		err = json.Unmarshal(array, records)
	}
	if err == nil {
		return nil
	}
	return &contract.Error{
		Message: "The command line " + strconv.Quote(cli) + " that " + tool + " runs did not print the records it should: " + reason(err) + ".",
		Err:     err,
	}
}

// array returns the records as one JSON array.
func (o Shape) array(stdout []byte) (json.RawMessage, error) {
	switch o.Form {
	case Delimited:
		return o.delimited(stdout)
	case Regexp:
		return o.matched(stdout)
	case Text:
		if len(stdout) == 0 {
			return noRecords(), nil
		}
		return o.records([]string{string(stdout)}, "text", func(text string) ([]string, error) { return []string{text}, nil })
	}
	array, err := o.jsonArray(stdout)
	if err != nil || len(o.Fields) == 0 {
		return array, err
	}
	return o.withFields(array)
}

func noRecords() json.RawMessage { return json.RawMessage("[]") }

// jsonArray returns records in JSON as one array.
func (o Shape) jsonArray(stdout []byte) (json.RawMessage, error) {
	switch {
	case o.Form == JSONLines:
		return jsonLines(stdout)
	case o.MayBeAbsent && len(bytes.TrimSpace(stdout)) == 0:
		return noRecords(), nil
	case o.Form == "":
		return recordArray(stdout)
	}
	value, err := oneValue(stdout)
	if err != nil {
		return nil, err
	}
	value, err = follow(value, o.Path)
	switch {
	case err != nil:
		return nil, err
	case value == nil && o.MayBeAbsent:
		return noRecords(), nil
	case value == nil:
		return nil, fmt.Errorf("there is no %s in it", cmp.Or(strings.Join(o.Path, "."), "value"))
	case o.Form == JSONObject && value[0] == '{':
		return slices.Concat(json.RawMessage("["), value, json.RawMessage("]")), nil
	case o.Form == JSONObject:
		return nil, errors.New("it is no object")
	case value[0] != '[':
		return nil, errors.New("it is no array")
	}
	return value, nil
}

// withFields puts what is deep inside of a record where it is read.
func (o Shape) withFields(array json.RawMessage) (json.RawMessage, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(array, &raw); err != nil {
		return nil, err
	}
	records := make([]map[string]json.RawMessage, len(raw))
	for i := range raw {
		if err := json.Unmarshal(raw[i], &records[i]); err != nil {
			return nil, err
		}
		if records[i] == nil {
			return nil, fmt.Errorf("record %d is null", i+1)
		}
		for _, f := range o.Fields {
			value, err := follow(raw[i], f.Path)
			if err != nil {
				return nil, fmt.Errorf("record %d: %w", i+1, err)
			}
			delete(records[i], f.Name)
			if value != nil {
				records[i][f.Name] = value
			}
		}
	}
	return json.Marshal(records)
}

// follow returns what a path leads to in a JSON value, or nil where that is null or
// not there. What every item of an array has is one array: of the items of those that
// are arrays themselves, and without those that are nothing.
func follow(value json.RawMessage, path []string) (json.RawMessage, error) {
	value = bytes.TrimSpace(value)
	switch {
	case len(value) == 0 || value[0] == 'n':
		return nil, nil
	case len(path) == 0:
		return value, nil
	case path[0] == EveryItem && value[0] != '[':
		return nil, errors.New("items are looked for in a value that is no array")
	case value[0] == '{':
		var members map[string]json.RawMessage
		if err := json.Unmarshal(value, &members); err != nil {
			return nil, err
		}
		return follow(members[path[0]], path[1:])
	case value[0] != '[':
		return nil, fmt.Errorf("%s is looked for in a value that is no object", path[0])
	}
	var items []json.RawMessage
	if err := json.Unmarshal(value, &items); err != nil {
		return nil, err
	}
	if path[0] == EveryItem {
		return followEach(items, path[1:])
	}
	i, err := strconv.Atoi(path[0])
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is looked for in an array", path[0])
	case i < 0 || i >= len(items):
		return nil, nil
	}
	return follow(items[i], path[1:])
}

func followEach(items []json.RawMessage, path []string) (json.RawMessage, error) {
	var found []json.RawMessage
	for _, item := range items {
		value, err := follow(item, path)
		switch {
		case err != nil:
			return nil, err
		case value == nil:
		case value[0] == '[':
			var inner []json.RawMessage
			if err := json.Unmarshal(value, &inner); err != nil {
				return nil, err
			}
			found = append(found, inner...)
		default:
			found = append(found, value)
		}
	}
	if len(found) == 0 {
		return noRecords(), nil
	}
	return json.Marshal(found)
}

// delimited returns records with separators as one JSON array.
func (o Shape) delimited(stdout []byte) (json.RawMessage, error) {
	return o.records(pieces(stdout, o.End), "record", func(record string) ([]string, error) {
		if len(o.Fields) == 0 {
			return []string{record}, nil
		}
		values := strings.SplitN(record, o.Separator, len(o.Fields))
		if len(values) < len(o.Fields) {
			return nil, fmt.Errorf("has %d fields and not %d", len(values), len(o.Fields))
		}
		return values, nil
	})
}

// matched returns lines that a pattern takes apart as one JSON array.
func (o Shape) matched(stdout []byte) (json.RawMessage, error) {
	re, err := regexp.Compile(o.Pattern)
	if err != nil {
		return nil, err
	}
	return o.records(pieces(stdout, "\n"), "line", func(line string) ([]string, error) {
		groups := re.FindStringSubmatch(line)
		if groups == nil {
			return nil, fmt.Errorf("is %s, which does not match the pattern", text.Cut(coerce.JSON(line), maxShown))
		}
		values := make([]string, len(o.Fields))
		for i, f := range o.Fields {
			values[i] = groups[re.SubexpIndex(f.Name)]
		}
		return values, nil
	})
}

func jsonLines(stdout []byte) (json.RawMessage, error) {
	var lines []string
	for i, line := range pieces(stdout, "\n") {
		switch {
		case strings.TrimSpace(line) == "":
		case !json.Valid([]byte(line)):
			return nil, fmt.Errorf("line %d is no JSON", i+1)
		default:
			lines = append(lines, line)
		}
	}
	return json.RawMessage("[" + strings.Join(lines, ",") + "]"), nil
}

// pieces cuts text where its pieces end. The last need not have its end, and a line
// may end as on Windows.
func pieces(text []byte, end string) []string {
	if len(text) == 0 {
		return nil
	}
	list := strings.Split(strings.TrimSuffix(string(text), end), end)
	if end == "\n" {
		for i := range list {
			list[i] = strings.TrimSuffix(list[i], "\r")
		}
	}
	return list
}

// records makes JSON of pieces of text; what is what a piece is called.
func (o Shape) records(list []string, what string, fields func(string) ([]string, error)) (json.RawMessage, error) {
	var skip *regexp.Regexp
	if o.Skip != "" {
		var err error
		if skip, err = regexp.Compile(o.Skip); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, piece := range list {
		if skip != nil && skip.MatchString(piece) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		values, err := fields(piece)
		if err == nil {
			err = o.record(&b, values)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %d %w", what, i+1, err)
		}
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// record writes one record. A field that is empty is left out, unless it is text.
func (o Shape) record(b *bytes.Buffer, values []string) error {
	if len(o.Fields) == 0 {
		b.WriteString(coerce.JSON(values[0]))
		return nil
	}
	b.WriteByte('{')
	first := true
	for i, f := range o.Fields {
		value := values[i]
		written := coerce.JSON(value)
		switch {
		case f.Type == "string":
		case value == "":
			continue
		case f.Type == "integer":
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil {
				return fmt.Errorf("has %s for %s, which is no integer", text.Cut(coerce.JSON(value), maxShown), f.Name)
			}
			written = strconv.FormatInt(n, 10)
		case f.Type == "boolean":
			yes, err := strconv.ParseBool(strings.TrimSpace(value))
			if err != nil {
				return fmt.Errorf("has %s for %s, which is neither true nor false", text.Cut(coerce.JSON(value), maxShown), f.Name)
			}
			written = strconv.FormatBool(yes)
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(coerce.JSON(f.Name) + ":" + written)
	}
	b.WriteByte('}')
	return nil
}

func recordArray(stdout []byte) (json.RawMessage, error) {
	value, err := oneValue(stdout)
	if err != nil {
		return nil, err
	}
	switch value[0] {
	case '[':
		return value, nil
	case '{':
		var document struct {
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(value, &document); err != nil {
			return nil, err
		}
		if len(document.Data) > 0 && document.Data[0] == '[' {
			return document.Data, nil
		}
		return nil, errors.New(`it printed an object without an array named "data"`)
	default:
		return nil, errors.New("it printed a single value and no array")
	}
}

// oneValue reads text that is one JSON value, whole.
func oneValue(stdout []byte) (json.RawMessage, error) {
	if len(bytes.TrimSpace(stdout)) == 0 {
		return nil, errors.New("it printed nothing")
	}
	dec := json.NewDecoder(bytes.NewReader(stdout))
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	end := dec.InputOffset()
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more text after the JSON value, from byte %d", end)
	}
	return value, nil
}

func reason(err error) string {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON text ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("%s, at byte %d", syntax, syntax.Offset)
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Sprintf("%s is a JSON %s where %s is expected", text.Quote(mismatch.Field), mismatch.Value, goKind(mismatch))
	case errors.As(err, &mismatch):
		return fmt.Sprintf("a record is a JSON %s", mismatch.Value)
	default:
		return err.Error()
	}
}

func goKind(e *json.UnmarshalTypeError) string {
	switch e.Type.Kind().String() {
	case "int":
		return "an integer"
	case "bool":
		return "a boolean"
	case "slice":
		return "an array"
	default:
		return "a string"
	}
}
