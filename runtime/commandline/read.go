package commandline

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
)

// maxShown is the number of characters of output that an error repeats.
const maxShown = 80

// errLong is the error for a record that is longer than any answer.
var errLong = errors.New("a record is too long to be shown")

// errNothing is the error for empty output where the spec does not allow it.
var errNothing = errors.New("it printed nothing")

// readRecords calls add with each record when it is printed, until add returns an error. A record in JSON is a
// [json.RawMessage] or a singleValue, any other record a map[string]string of fields or a string. The error is that of
// add, [errLong] for a record of more than most bytes, or says what is wrong with the output.
func (o *Output) readRecords(r io.Reader, most int, add func(record any) error) error {
	switch o.Form {
	case Delimited:
		return o.readPieces(r, o.End, most, func(n int, piece string) error {
			if len(o.Fields) == 0 {
				return add(piece)
			}
			values := strings.SplitN(piece, o.Separator, len(o.Fields))
			if len(values) < len(o.Fields) {
				return fmt.Errorf("record %d has %d fields and not %d", n, len(values), len(o.Fields))
			}
			fields := map[string]string{}
			for i, name := range o.Fields {
				fields[name] = values[i]
			}
			return add(fields)
		})
	case Regexp:
		re, err := regexp.Compile(o.Pattern)
		if err != nil {
			return err
		}
		return o.readPieces(r, "\n", most, func(n int, line string) error {
			groups := re.FindStringSubmatch(line)
			if groups == nil {
				return fmt.Errorf("line %d is %s, which does not match the pattern", n, text.Cut(coerce.JSON(line), maxShown))
			}
			fields := map[string]string{}
			for i, name := range re.SubexpNames() {
				if name != "" {
					fields[name] = groups[i]
				}
			}
			return add(fields)
		})
	case JSONLines:
		return o.readPieces(r, "\n", most, func(n int, line string) error {
			switch {
			case strings.TrimSpace(line) == "":
				return nil
			case !json.Valid([]byte(line)):
				return fmt.Errorf("line %d is no JSON", n)
			}
			return add(json.RawMessage(line))
		})
	}
	return o.readJSON(r, most, add)
}

// readPieces calls add with each piece of a text and the number of the piece, from 1, until add returns an error. Each
// piece but the last must end with end; CRLF ends a line too. Pieces that match Skip are counted, but not added. The
// error for a piece of more than most bytes is [errLong].
func (o *Output) readPieces(r io.Reader, end string, most int, add func(n int, piece string) error) error {
	var skip *regexp.Regexp
	if o.Skip != "" {
		var err error
		if skip, err = regexp.Compile(o.Skip); err != nil {
			return err
		}
	}
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, most)
	scanner.Split(func(data []byte, atEOF bool) (advance int, token []byte, err error) {
		if i := bytes.Index(data, []byte(end)); i >= 0 {
			return i + len(end), data[:i], nil
		}
		if atEOF && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil // more data is needed
	})
	for n := 1; scanner.Scan(); n++ {
		piece := scanner.Text()
		if end == "\n" {
			piece = strings.TrimSuffix(piece, "\r")
		}
		if skip != nil && skip.MatchString(piece) {
			continue
		}
		if err := add(n, piece); err != nil {
			return err
		}
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return errLong
	}
	return scanner.Err()
}

// recordReader reads up to most bytes of one record. Whoever has decoded a record sets read to 0.
type recordReader struct {
	r          io.Reader
	read, most int
}

// Read reads from l.r. After l.most bytes the error is [errLong].
func (l *recordReader) Read(b []byte) (int, error) {
	if l.read >= l.most {
		return 0, errLong
	}
	n, err := l.r.Read(b)
	l.read += n
	return n, err
}

// maxValue is the greatest length of a JSON value with several records, in bytes.
const maxValue = 64 << 20

// readJSON calls add with each record in the output. With JSONAny, each JSON value is a record if the first is no
// array. Otherwise the output is one value, with an array of records at o.Path or, with JSONObject, one record there.
// Without a form, the value is the array itself or an object with the array as its member data. The error is that of
// add, that of decoding, [errNothing], or says that the value has another form.
func (o *Output) readJSON(r io.Reader, most int, add func(record any) error) error {
	input := &recordReader{r: r, most: maxValue}
	dec := json.NewDecoder(input)
	var value json.RawMessage
	err := dec.Decode(&value)
	switch {
	case errors.Is(err, io.EOF) && o.MayBeAbsent:
		return nil
	case errors.Is(err, io.EOF):
		return errNothing
	case err == nil && o.Form == JSONAny && value[0] != '[':
		for input.most = most; err == nil; err = dec.Decode(&value) {
			if err := add(singleValue{bytes.Clone(value)}); err != nil {
				return err
			}
			input.read = 0
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	end := dec.InputOffset()
	if err := dec.Decode(new(json.RawMessage)); err == nil {
		return fmt.Errorf("there is more text after the JSON value, from byte %d", end)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	path := o.Path
	switch {
	case o.Form == "" && value[0] == '{':
		path = []string{"data"}
	case o.Form == "" && value[0] != '[':
		return errors.New("it printed a single value and no array")
	}
	records, found, err := recordsAt(value, path, o.Form == JSONObject, false)
	for _, record := range records {
		if err == nil {
			err = add(record)
		}
	}
	switch {
	case err != nil || found || o.MayBeAbsent:
		return err
	case o.Form == "":
		return errors.New(`it printed an object without an array named "data"`)
	}
	return fmt.Errorf("there is no %s in it", cmp.Or(strings.Join(path, "."), "value"))
}

// recordsAt returns the records at a path in value. A step of the path is the name of a member, the index of an item,
// or EveryItem, which means each item of an array. The path ends at an array of records or, if isObject is true, at one
// object. inItems is true if EveryItem has led to value: the path may then end at one record that is no array. found is
// true for an array at EveryItem, and for a value other than null at the end. The error says that a value has another
// form.
func recordsAt(value json.RawMessage, path []string, isObject, inItems bool) (records []json.RawMessage, found bool, err error) {
	if string(value) == "null" {
		return nil, false, nil
	}
	if len(path) == 0 {
		records, err = recordsIn(value, isObject, inItems)
		return records, true, err
	}
	if path[0] == EveryItem && value[0] == '[' {
		var items []json.RawMessage
		if err := json.Unmarshal(value, &items); err != nil {
			return nil, false, err
		}
		for _, item := range items {
			below, _, err := recordsAt(item, path[1:], isObject, true)
			if err != nil {
				return nil, false, err
			}
			records = append(records, below...)
		}
		return records, true, nil
	}
	next, err := step(value, path[0])
	if err != nil || next == nil {
		return nil, false, err
	}
	return recordsAt(next, path[1:], isObject, inItems)
}

// recordsIn returns the records in value. If isObject is true, value must be an object, and is the only record. If
// isObject is false, value must be an array, and its items are the records. inItems is true if value was found in the
// items of an array: value may then be something else than an array, and is one record.
func recordsIn(value json.RawMessage, isObject, inItems bool) (records []json.RawMessage, err error) {
	isArray := value[0] == '['
	switch {
	case isObject && value[0] != '{':
		return nil, errors.New("it is no object")
	case isArray:
		err = json.Unmarshal(value, &records)
		return records, err
	case isObject, inItems:
		return []json.RawMessage{value}, nil
	default:
		return nil, errors.New("it is no array")
	}
}

// step returns the member of an object with a name, or the item of an array whose index is name; nil if there is none.
// It returns an error if value is neither, or if value is an array and name is no number.
func step(value json.RawMessage, name string) (json.RawMessage, error) {
	switch {
	case name == EveryItem: // the caller takes this step itself if value is an array
		return nil, errors.New("items are looked for in a value that is no array")
	case value[0] == '{':
		var fields map[string]json.RawMessage
		err := json.Unmarshal(value, &fields)
		return fields[name], err
	case value[0] != '[':
		return nil, fmt.Errorf("%s is looked for in a value that is no object", name)
	}
	i, err := strconv.Atoi(name)
	if err != nil {
		return nil, fmt.Errorf("%s is looked for in an array", name)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(value, &items); err != nil || i < 0 || i >= len(items) {
		return nil, err
	}
	return items[i], nil
}
