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

// maxShown is how many characters of what was printed an error repeats.
const maxShown = 80

// errLong is the error for a record that is longer than any answer.
var errLong = errors.New("a record is too long to be shown")

// errNothing is the error for no output at all, where that is a mistake.
var errNothing = errors.New("it printed nothing")

// read reads records as they are printed and gives each to take, until that returns an
// error. A record is a [json.RawMessage], or the fields of one that is no JSON: a
// map[string]string, or a string. One of more than most bytes is [errLong].
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

// pieces cuts text where its pieces end. The last need not have its end, and a line may
// end as on Windows.
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

// patient reads no more than most bytes until it is told that something was done with
// them.
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

// walker goes through JSON as it comes, and holds one record of it at a time.
type walker struct {
	*json.Decoder
	input *patient
	take  func(record any) error
}

func (w *walker) Token() (json.Token, error) {
	w.input.read = 0
	return w.Decoder.Token()
}

// raw returns the value that follows. It is not there where it is null.
func (w *walker) raw() (raw json.RawMessage, there bool, err error) {
	w.input.read = 0
	err = w.Decode(&raw)
	return raw, string(raw) != "null", err
}

// record takes the value that follows.
func (w *walker) record() error {
	raw, _, err := w.raw()
	if err != nil {
		return err
	}
	return w.take(raw)
}

func (o *Output) json(r io.Reader, most int, take func(record any) error) error {
	input := bufio.NewReader(r)
	first, err := firstByte(input)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case err != nil && o.MayBeAbsent:
		return nil
	case err != nil:
		return errNothing
	}
	patient := &patient{r: input, most: most}
	w := &walker{Decoder: json.NewDecoder(patient), input: patient, take: take}
	path := o.Path
	found := true
	switch {
	case o.Form == JSONAny && first != '[':
		w.take = func(record any) error { return take(alone{record.(json.RawMessage)}) }
		for err == nil {
			err = w.record()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	case o.Form == "" && first == '{':
		path = []string{"data"}
	case o.Form == "" && first != '[':
		if _, _, err := w.raw(); err != nil {
			return err
		}
		return errors.New("it printed a single value and no array")
	}
	if found, err = w.follow(path, o.Form == JSONObject, false); err != nil {
		return err
	}
	end := w.InputOffset()
	switch _, err := w.Token(); {
	case err == nil:
		return fmt.Errorf("there is more text after the JSON value, from byte %d", end)
	case !errors.Is(err, io.EOF):
		return err
	case found || o.MayBeAbsent:
		return nil
	case o.Form == "":
		return errors.New(`it printed an object without an array named "data"`)
	}
	return fmt.Errorf("there is no %s in it", cmp.Or(strings.Join(path, "."), "value"))
}

func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if !bytes.ContainsRune([]byte(" \t\r\n"), rune(b)) {
			return b, r.UnreadByte()
		}
	}
}

// follow goes down a path, and takes the records it leads to: the items of an array, or
// one object. Below all items of an array, each is that of its own. It is false where
// there is null or nothing at the path.
func (w *walker) follow(path []string, one, each bool) (found bool, err error) {
	switch {
	case len(path) == 0 && one:
		return w.object()
	case len(path) == 0 && each:
		return w.each()
	}
	token, err := w.Token()
	if err != nil {
		return false, err
	}
	switch token {
	case nil:
		return false, nil
	case json.Delim('{'):
		switch {
		case len(path) == 0:
			return false, errors.New("it is no array")
		case path[0] == EveryItem:
			return false, errors.New("items are looked for in a value that is no array")
		}
		for w.More() {
			name, err := w.Token()
			if err == nil && name == path[0] {
				found, err = w.follow(path[1:], one, each)
			} else if err == nil {
				err = w.skip()
			}
			if err != nil {
				return false, err
			}
		}
	case json.Delim('['):
		if found, err = w.array(path, one, each); err != nil {
			return false, err
		}
	default:
		if len(path) == 0 {
			return false, errors.New("it is no array")
		}
		return false, fmt.Errorf("%s is looked for in a value that is no object", path[0])
	}
	_, err = w.Token() // its end
	return found, err
}

// array goes on within an array.
func (w *walker) array(path []string, one, each bool) (found bool, err error) {
	index := -1
	if len(path) > 0 && path[0] != EveryItem {
		if index, err = strconv.Atoi(path[0]); err != nil {
			return false, fmt.Errorf("%s is looked for in an array", path[0])
		}
	}
	found = index < 0
	for i := 0; w.More(); i++ {
		switch {
		case len(path) == 0:
			err = w.record()
		case index < 0:
			_, err = w.follow(path[1:], one, true)
		case i == index:
			found, err = w.follow(path[1:], one, each)
		default:
			err = w.skip()
		}
		if err != nil {
			return false, err
		}
	}
	return found, nil
}

// object takes the one record there is.
func (w *walker) object() (there bool, err error) {
	raw, there, err := w.raw()
	switch {
	case err != nil || !there:
		return false, err
	case raw[0] != '{':
		return false, errors.New("it is no object")
	}
	return true, w.take(raw)
}

// each takes what one item of an array has: the items of an array for themselves.
func (w *walker) each() (there bool, err error) {
	raw, there, err := w.raw()
	if err != nil || !there {
		return false, err
	}
	items := []json.RawMessage{raw}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &items); err != nil {
			return false, err
		}
	}
	for _, item := range items {
		if err := w.take(item); err != nil {
			return false, err
		}
	}
	return true, nil
}

// skip passes over the value that follows.
func (w *walker) skip() error {
	for depth := 0; ; {
		token, err := w.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
