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

// maxMetadataSize bounds metadata.json, which holds a title, a few timestamps
// and labels.
const maxMetadataSize = 1 << 20

// The labels with a meaning. JP drops the keys of metadata.json that it does not
// know whenever it writes the file, and keeps labels.
const (
	labelHidden = "hidden"
	labelParent = "parent_id"
)

// LabelSession is the label of a conversation that a session of this program is recorded in. A fork has none.
const LabelSession = "convtools"

// metadata is a JSON object of which members can be changed: metadata.json, or the labels in
// it. The values of keys that nobody changes stay as they are: a newer JP may have written them.
type metadata map[string]json.RawMessage

func parseMetadata(data []byte) (m metadata, err error) {
	if err := valueOf(data, &m, "an object"); err != nil {
		return nil, fmt.Errorf("metadata.json cannot be read: %w", err)
	}
	return m, nil
}

// describe reads metadata into a conversation. Unknown and missing keys are fine. What cannot
// be used counts as missing, and is a problem of the conversation.
func (m metadata) describe(c *store.Conversation) {
	read := func(name string, raw []byte, into any, wanted string) bool {
		err := valueOf(raw, into, wanted)
		if err != nil {
			c.Problems = append(c.Problems, badField(c.ID, name, err))
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
	if !c.Archived { // the directory decides, and a stamp is stale
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

// valueOf reads a JSON value that is to be what is wanted. Null and none leave what is there.
func valueOf(raw []byte, into any, wanted string) error {
	if raw == nil {
		return nil
	}
	err := json.Unmarshal(raw, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("it is not %s", wanted)
	}
	return err
}

// timestamp is a time as it is recorded.
type timestamp time.Time

func (t *timestamp) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" || string(raw) == `""` {
		return nil
	}
	at, err := transcript.ParseTimestamp(jsontext.String(raw))
	*t = timestamp(at)
	return err
}

func badField(id transcript.ID, name string, err error) store.Problem {
	return store.Problem{ID: id, Kind: store.BadField, Field: name, Err: fmt.Errorf("%s counts as missing: %w", name, err)}
}

// set gives a key a value.
func (m metadata) set(key string, value any) { m[key] = marshalIndent(value, "  ") }

// setTime gives a key a time; the zero time removes it.
func (m metadata) setTime(key string, at time.Time) {
	delete(m, key)
	if !at.IsZero() {
		m.set(key, formatTimestamp(at))
	}
}

// setLabels sets labels and removes those that are nil. The keys of labels that are there
// already are not checked.
func (m metadata) setLabels(labels map[string]*string) error {
	var was metadata
	if err := valueOf(m["labels"], &was, "an object"); err != nil && len(labels) > 0 {
		return fmt.Errorf("labels: %w", err)
	}
	now := metadata{}
	maps.Copy(now, was)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] == nil {
			delete(now, key)
			continue
		}
		if err := CheckLabel(key); err != nil {
			return err
		}
		now.set(key, *labels[key])
	}
	if maps.EqualFunc(was, now, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return nil
	}
	if delete(m, "labels"); len(now) > 0 {
		m.set("labels", now)
	}
	return nil
}

// bytes returns the object as JP lays it out: its own keys first.
func (m metadata) bytes() []byte {
	keys := []string{"title", "last_activated_at", "pinned_at", "archived_at", "expires_at", "labels"}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	var members [][]byte
	for _, key := range keys {
		if value, there := m[key]; there {
			members = append(members, fmt.Appendf(nil, "  %s: %s", marshalIndent(key, ""), value))
		}
	}
	return slices.Concat([]byte("{\n"), bytes.Join(members, []byte(",\n")), []byte("\n}\n"))
}

// marshalIndent returns a value as JP writes it: in lines, of which all but the first begin with a prefix, and with <, >
// and & as they are.
func marshalIndent(value any, prefix string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, "  ")
	if err := encoder.Encode(value); err != nil {
		panic(err) // no value here is one that cannot be JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// formatTimestamp is a time as JP writes it to disk.
func formatTimestamp(t time.Time) string {
	text := t.UTC().Format("2006-01-02 15:04:05.999999999")
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
