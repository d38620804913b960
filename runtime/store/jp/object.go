package jp

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// object is a JSON object of which members can be changed. Members have their order, and
// those that nobody changes their bytes: a newer JP may have written them.
type object []jsontext.Member

// parseObject reads an object that is known to be JSON.
func parseObject(data []byte) (o object, err error) {
	if !jsontext.Walk(data, func(key, value []byte) { o = append(o, jsontext.Member{Key: key, Value: value}) }) {
		return nil, errors.New("it is not a JSON object")
	}
	return o, nil
}

// get returns the value of a key, or nil where there is none. Of several the last one counts.
func (o object) get(key string) []byte {
	for _, m := range slices.Backward(o) {
		if jsontext.KeyIs(m.Key, key) {
			return m.Value
		}
	}
	return nil
}

// set gives a key that needs no escapes a value; nil removes it.
func (o *object) set(key string, value []byte) {
	if value == nil {
		*o = slices.DeleteFunc(*o, func(m jsontext.Member) bool { return jsontext.KeyIs(m.Key, key) })
		return
	}
	for i, m := range slices.Backward(*o) {
		if jsontext.KeyIs(m.Key, key) {
			(*o)[i].Value = value
			return
		}
	}
	*o = append(*o, jsontext.Member{Key: []byte(key), Value: value})
}

// setText gives a key a text. One that has it keeps it, however it is escaped.
func (o *object) setText(key, value string) {
	var old *string
	if json.Unmarshal(o.get(key), &old) != nil || old == nil || *old != value {
		o.set(key, transcript.AppendQuoted(nil, []byte(value)))
	}
}

// setTime gives a key a time as JP writes it; the zero time removes it.
func (o *object) setTime(key string, at time.Time) {
	if at.IsZero() {
		o.set(key, nil)
		return
	}
	o.setText(key, formatTimestamp(at))
}

// bytes returns the object as JP lays it out, in lines with an indent.
func (o object) bytes(indent string) []byte {
	if len(o) == 0 {
		return []byte("{}")
	}
	var b []byte
	for i, m := range o {
		b = append(b, "{,"[min(i, 1)])
		b = append(append(b, indent+"  \""...), m.Key...)
		b = append(append(b, "\": "...), m.Value...)
	}
	return append(b, indent+"}"...)
}
