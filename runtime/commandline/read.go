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

// errNothing is the error for no output if there has to be some.
var errNothing = errors.New("it printed nothing")

// read gives each record to take as it is printed, until take returns an error. A record is a [json.RawMessage], or
// for other forms a map[string]string or a string. The error for one of more than most bytes is [errLong].
func (o *Output) read(r io.Reader, most int, take func(record any) error) error {
	switch o.Form {
	case Delimited:
		return o.pieces(r, o.End, most, func(n int, piece string) error {
			if len(o.Fields) == 0 {
				return take(piece)
			}
			values := strings.SplitN(piece, o.Separator, len(o.Fields))
			if len(values) < len(o.Fields) {
				return fmt.Errorf("record %d has %d fields and not %d", n, len(values), len(o.Fields))
			}
			fields := map[string]string{}
			for i, name := range o.Fields {
				fields[name] = values[i]
			}
			return take(fields)
		})
	case Regexp:
		re, err := regexp.Compile(o.Pattern)
		if err != nil {
			return err
		}
		return o.pieces(r, "\n", most, func(n int, line string) error {
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
			return take(fields)
		})
	case JSONLines:
		return o.pieces(r, "\n", most, func(n int, line string) error {
			switch {
			case strings.TrimSpace(line) == "":
				return nil
			case !json.Valid([]byte(line)):
				return fmt.Errorf("line %d is no JSON", n)
			}
			return take(json.RawMessage(line))
		})
	}
	return o.json(r, most, take)
}

// pieces splits text at the ends of its pieces. The last one may have no end, and a line may end with CRLF.
func (o *Output) pieces(r io.Reader, end string, most int, take func(n int, piece string) error) error {
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
		return 0, nil, nil
	})
	for n := 1; scanner.Scan(); n++ {
		piece := scanner.Text()
		if end == "\n" {
			piece = strings.TrimSuffix(piece, "\r")
		}
		if skip != nil && skip.MatchString(piece) {
			continue
		}
		if err := take(n, piece); err != nil {
			return err
		}
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return errLong
	}
	return scanner.Err()
}

// patient reads up to most bytes between two records.
type patient struct {
	r          io.Reader
	read, most int
}

func (p *patient) Read(b []byte) (int, error) {
	if p.read >= p.most {
		return 0, errLong
	}
	n, err := p.r.Read(b)
	p.read += n
	return n, err
}

// maxValue is the greatest length of a JSON value with several records, in bytes.
const maxValue = 64 << 20

// json reads records in one JSON value, or JSON values that are records.
func (o *Output) json(r io.Reader, most int, take func(record any) error) error {
	input := &patient{r: r, most: maxValue}
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
			if err := take(alone{bytes.Clone(value)}); err != nil {
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
			err = take(record)
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

// recordsAt returns the records at a path: the items of an array, or one object. Through the items of an array, it
// returns those of each item. It returns false if there is null or nothing at the path.
func recordsAt(value json.RawMessage, path []string, one, each bool) (records []json.RawMessage, found bool, err error) {
	switch {
	case string(value) == "null":
		return nil, false, nil
	case len(path) > 0 && path[0] == EveryItem && value[0] == '[':
		var items []json.RawMessage
		err = json.Unmarshal(value, &items)
		for _, item := range items {
			var below []json.RawMessage
			if err == nil {
				below, _, err = recordsAt(item, path[1:], one, true)
			}
			records = append(records, below...)
		}
		return records, true, err
	case len(path) > 0:
		next, err := step(value, path[0])
		if err != nil || next == nil {
			return nil, false, err
		}
		return recordsAt(next, path[1:], one, each)
	case one && value[0] != '{':
		return nil, false, errors.New("it is no object")
	case value[0] == '[':
		err = json.Unmarshal(value, &records)
		return records, true, err
	case one || each:
		return []json.RawMessage{value}, true, nil
	}
	return nil, false, errors.New("it is no array")
}

// step returns the member of an object or the item of an array, or nil.
func step(value json.RawMessage, name string) (json.RawMessage, error) {
	switch {
	case name == EveryItem:
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
