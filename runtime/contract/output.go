package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Forms of what a command line prints.
const (
	OutputJSON      = "json"       // one value, with the array of records at Path
	OutputJSONLines = "json_lines" // a record on each line
	OutputDelimited = "delimited"  // records that end with End, of fields with Separator between them
	OutputRegexp    = "regexp"     // a record on each line, whose fields are the groups of Pattern
	OutputText      = "text"       // one record, with the whole text
)

// Output is how a command line prints its records.
type Output struct {
	Form           string
	Path           []string // of members down to the array
	Fields         []OutputField
	Separator, End string
	Pattern        string
}

// OutputField is a field of a record that is no JSON. Without any, a record is a text.
type OutputField struct {
	Name string // key that the record is read by
	Type string // "string", "integer", "boolean" or "time"
}

// DecodeOutput reads what a command line printed into records, a pointer to a slice.
// What is not of the form it should have is an error: half an answer must not look
// like a short one. No text at all is no records, except where it should be JSON.
func DecodeOutput(tool, cli string, output Output, stdout []byte, records any) error {
	array, err := output.array(stdout)
	if err == nil {
		err = json.Unmarshal(array, records)
	}
	if err == nil {
		return nil
	}
	return &Error{
		Message: "The command line " + strconv.Quote(cli) + " that " + tool + " runs did not print the records it should: " + reason(err) + ".",
		Err:     err,
	}
}

// array returns the records as one JSON array.
func (o Output) array(stdout []byte) (json.RawMessage, error) {
	switch o.Form {
	case OutputJSON:
		return o.within(stdout)
	case OutputJSONLines:
		return jsonLines(stdout)
	case OutputText:
		if len(stdout) == 0 {
			return json.RawMessage("[]"), nil
		}
		return o.records([]string{string(stdout)}, "text", func(text string) ([]string, error) { return []string{text}, nil })
	case OutputRegexp:
		re, err := regexp.Compile(o.Pattern)
		if err != nil {
			return nil, err
		}
		return o.records(pieces(stdout, "\n"), "line", func(line string) ([]string, error) {
			groups := re.FindStringSubmatch(line)
			if groups == nil {
				return nil, errors.New("does not match the pattern")
			}
			values := make([]string, len(o.Fields))
			for i, f := range o.Fields {
				values[i] = groups[re.SubexpIndex(f.Name)]
			}
			return values, nil
		})
	}
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

// within finds the array at the path.
func (o Output) within(stdout []byte) (json.RawMessage, error) {
	value, err := oneValue(stdout)
	if err != nil {
		return nil, err
	}
	for i, name := range o.Path {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(value, &members); err != nil || members[name] == nil {
			return nil, fmt.Errorf("there is no %s in it", strings.Join(o.Path[:i+1], "."))
		}
		value = members[name]
	}
	if value[0] != '[' {
		return nil, errors.New("it is no array")
	}
	return value, nil
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
func (o Output) records(list []string, what string, fields func(string) ([]string, error)) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, piece := range list {
		if i > 0 {
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
func (o Output) record(b *bytes.Buffer, values []string) error {
	if len(o.Fields) == 0 {
		b.WriteString(encode(values[0]))
		return nil
	}
	b.WriteByte('{')
	first := true
	for i, f := range o.Fields {
		value := values[i]
		text := encode(value)
		switch {
		case f.Type == "string":
		case value == "":
			continue
		case f.Type == "integer":
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil {
				return fmt.Errorf("has %s for %s, which is no integer", show(value), f.Name)
			}
			text = strconv.FormatInt(n, 10)
		case f.Type == "boolean":
			yes, err := strconv.ParseBool(strings.TrimSpace(value))
			if err != nil {
				return fmt.Errorf("has %s for %s, which is neither true nor false", show(value), f.Name)
			}
			text = strconv.FormatBool(yes)
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(encode(f.Name) + ":" + text)
	}
	b.WriteByte('}')
	return nil
}
