package jp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/transcript"
)

// object is a JSON object whose members can be changed while everything else of
// it, white space and members nobody asked for included, stays as it is, byte for
// byte.
type object struct {
	members    []member
	start, end []byte // white space around it
	indent     string // of a first member
}

// member is a member of an object, in the bytes it was read from.
type member struct {
	before []byte // white space between the last comma, or the bracket, and the key
	key    string
	name   []byte // the key as it is written, and what follows up to the value
	value  []byte
	after  []byte // white space up to the comma or the bracket
}

var errNotObject = errors.New("it is not a JSON object")

// parseObject reads an object. depth is how many objects it is inside of.
func parseObject(data []byte, depth int) (*object, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if open != json.Delim('{') {
		return nil, errNotObject
	}
	o := &object{indent: "\n" + strings.Repeat("  ", depth+1)}
	at := int(dec.InputOffset())
	o.start = data[:at-1]
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		start := at + bytes.IndexByte(data[at:], '"')
		before := bytes.TrimPrefix(data[at:start], []byte(","))
		if len(o.members) > 0 { // the white space before the comma belongs to the member it follows
			comma := bytes.IndexByte(data[at:start], ',')
			o.members[len(o.members)-1].after = data[at : at+comma]
			before = data[at+comma+1 : start]
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		at = int(dec.InputOffset())
		o.members = append(o.members, member{
			before: before, key: key.(string),
			name: data[start : at-len(value)], value: data[at-len(value) : at],
		})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	end := int(dec.InputOffset())
	if n := len(o.members); n > 0 {
		o.members[n-1].after = data[at : end-1]
	}
	o.end = data[end:]
	if len(bytes.Trim(o.end, " \t\r\n")) > 0 {
		return nil, errors.New("something follows the JSON object")
	}
	return o, nil
}

// get returns the value of a key, or nil where there is none. Of several the last
// one counts.
func (o *object) get(key string) []byte {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].key == key {
			return o.members[i].value
		}
	}
	return nil
}

// set gives a key a value; nil removes it.
func (o *object) set(key string, value []byte) {
	at := -1 // of several with the same key the last one counts
	for i, m := range o.members {
		if m.key == key {
			at = i
		}
	}
	switch {
	case at >= 0 && value != nil:
		o.members[at].value = value
	case at >= 0:
		end := o.members[len(o.members)-1].after
		o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.key == key })
		if n := len(o.members); n > 0 {
			o.members[n-1].after = end
		}
	case value != nil:
		o.add(key, value)
	}
}

// add adds a member at the end, laid out as those there are.
func (o *object) add(key string, value []byte) {
	m := member{
		before: []byte(o.indent), key: key, name: append(transcript.AppendQuoted(nil, []byte(key)), ": "...), value: value,
		after: []byte(strings.TrimSuffix(o.indent, "  ")),
	}
	if n := len(o.members); n > 0 {
		last := &o.members[n-1]
		m.before = o.members[0].before
		if !bytes.ContainsRune(m.before, '\n') {
			m.name = m.name[:len(m.name)-1]
		}
		m.after, last.after = last.after, nil
	}
	o.members = append(o.members, m)
}

// bytes returns the object as it is to be written.
func (o *object) bytes() []byte {
	b := append(slices.Clone(o.start), '{')
	for i, m := range o.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(append(b, m.before...), m.name...), m.value...), m.after...)
	}
	return append(append(b, '}'), o.end...)
}

// setText gives a key a text; the empty one removes it.
func (o *object) setText(key, value string) {
	if value == "" {
		o.set(key, nil)
		return
	}
	if old := o.get(key); old != nil {
		var text string
		if json.Unmarshal(old, &text) == nil && text == value {
			return // however it is escaped
		}
	}
	o.set(key, transcript.AppendQuoted(nil, []byte(value)))
}
