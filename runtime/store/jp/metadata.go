package jp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// maxMetadataSize bounds metadata.json, which has a title, a few timestamps and labels.
const maxMetadataSize = 1 << 20

// The labels with a meaning. When JP writes metadata.json it drops the keys that it does not know, and keeps labels.
const (
	labelHidden = "hidden"
	labelParent = "parent_id"
)

// LabelSession is the label of a conversation that a session of this program is recorded in. A fork does not get it.
const LabelSession = "convtools"

// metadata is a JSON object: metadata.json, or the labels in it. Values that are not changed keep their bytes: a newer
// version of JP may have written them.
type metadata map[string]json.RawMessage

func parseMetadata(data []byte) (m metadata, err error) {
	if err := parse(data, &m, "an object"); err != nil {
		return nil, fmt.Errorf("metadata.json cannot be read: %w", err)
	}
	return m, nil
}

// describe sets the fields of a conversation from its metadata. A value that cannot be used counts as missing, and the
// conversation gets a problem for it.
func (m metadata) describe(c *store.Conversation) {
	read := func(name string, raw []byte, into any, expected string) bool {
		err := parse(raw, into, expected)
		if err != nil {
			err = fmt.Errorf("%s counts as missing: %w", name, err)
			c.Problems = append(c.Problems, store.Problem{ID: c.ID, Kind: store.BadField, Field: name, Err: err})
		}
		return err == nil
	}
	var labels metadata
	read("title", m["title"], &c.Title, "a string")
	read("labels", m["labels"], &labels, "an object")
	read("hidden", m["hidden"], &c.Hidden, "true or false")
	for name, into := range map[string]*time.Time{
		"last_activated_at": &c.LastActivatedAt, "pinned_at": &c.PinnedAt, "archived_at": &c.ArchivedAt, "expires_at": &c.ExpiresAt,
	} {
		read(name, m[name], (*timestamp)(into), "a time")
	}
	if !c.Archived { // the directory decides
		c.ArchivedAt = time.Time{}
	}
	for key, raw := range labels {
		var label string
		if !read("the label "+text.Quote(key), raw, &label, "a string") {
			continue
		}
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels[key] = label
	}
	slices.SortFunc(c.Problems, func(a, b store.Problem) int { return strings.Compare(a.Field, b.Field) })
	c.Hidden = c.Hidden || labels[labelHidden] != nil
	if parent, err := ParseID(c.Labels[labelParent]); err == nil && parent != c.ID {
		c.Parent = parent
	}
}

// parse decodes a JSON value into a variable. A value that is null or missing leaves the variable as it is.
func parse(raw []byte, into any, expected string) error {
	if raw == nil {
		return nil
	}
	err := json.Unmarshal(raw, into)
	if _, isOther := errors.AsType[*json.UnmarshalTypeError](err); isOther {
		return fmt.Errorf("it is not %s", expected)
	}
	return err
}

// timestamp is a time in metadata.json.
type timestamp time.Time

// UnmarshalJSON implements [json.Unmarshaler]. Neither null nor an empty text changes the time.
func (t *timestamp) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" || string(raw) == `""` {
		return nil
	}
	at, err := transcript.ParseTimestamp(jsontext.String(raw))
	*t = timestamp(at)
	return err
}

func (m metadata) set(key string, value any) { m[key] = marshalIndent(value, "  ") }

// setTime sets a key to a time; the zero time removes the key.
func (m metadata) setTime(key string, at time.Time) {
	if delete(m, key); !at.IsZero() {
		m.set(key, formatTimestamp(at))
	}
}

// setLabels sets labels and removes those that are nil. The error is a [*BadLabelError] for the key of a label to be set,
// or says that the labels of the metadata cannot be read.
func (m metadata) setLabels(labels map[string]*string) error {
	var before metadata
	if len(labels) == 0 {
		return nil
	}
	if err := parse(m["labels"], &before, "an object"); err != nil {
		return fmt.Errorf("labels: %w", err)
	}
	after := metadata{}
	maps.Copy(after, before)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] == nil {
			delete(after, key)
			continue
		}
		if err := CheckLabel(key); err != nil {
			return err
		}
		after.set(key, *labels[key])
	}
	delete(m, "labels")
	if len(after) > 0 {
		m.set("labels", after)
	}
	return nil
}

// bytes returns the object as JP writes it: the keys of JP first.
func (m metadata) bytes() []byte {
	keys := []string{"title", "last_activated_at", "pinned_at", "archived_at", "expires_at", "labels"}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	var members [][]byte
	for _, key := range keys {
		if value, ok := m[key]; ok {
			members = append(members, fmt.Appendf(nil, "  %s: %s", marshalIndent(key, ""), value))
		}
	}
	return slices.Concat([]byte("{\n"), bytes.Join(members, []byte(",\n")), []byte("\n}\n"))
}

// marshalIndent returns a value as JP writes it: <, > and & are not escaped. Each line but the first begins with the prefix.
func marshalIndent(value any, prefix string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err) // all values here can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// formatTimestamp returns a time as JP writes it.
func formatTimestamp(t time.Time) string {
	text := t.UTC().Format("2006-01-02 15:04:05.999999999")
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
