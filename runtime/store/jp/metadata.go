package jp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
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

// parseMetadata reads a metadata.json into c. Unknown and missing keys are fine. A
// timestamp or a label that cannot be used counts as missing, and is a problem of
// the conversation; any other key with a value of the wrong type is an error.
func parseMetadata(data []byte, c *store.Conversation) error {
	var file struct {
		Title           field[string]                   `json:"title"`
		LastActivatedAt timestamp                       `json:"last_activated_at"`
		PinnedAt        timestamp                       `json:"pinned_at"`
		ArchivedAt      timestamp                       `json:"archived_at"`
		ExpiresAt       timestamp                       `json:"expires_at"`
		Labels          field[map[string]field[string]] `json:"labels"`
		Hidden          field[bool]                     `json:"hidden"`
	}
	var wrong *json.UnmarshalTypeError
	err := json.Unmarshal(data, &file)
	if errors.As(err, &wrong) {
		err = fmt.Errorf("it is %s, and not an object", jsonKind(data))
	}
	if err != nil {
		return fmt.Errorf("metadata.json cannot be read: %w", err)
	}
	for _, wrong := range []struct {
		name string
		err  error
	}{{"title", file.Title.err}, {"labels", file.Labels.err}, {"hidden", file.Hidden.err}} {
		if wrong.err != nil {
			return fmt.Errorf("metadata.json cannot be read: %s: %w", wrong.name, wrong.err)
		}
	}
	c.Title = file.Title.value
	c.LastActivatedAt = file.LastActivatedAt.Time
	c.PinnedAt = file.PinnedAt.Time
	if c.Archived { // else a stale stamp: the directory decides
		c.ArchivedAt = file.ArchivedAt.Time
	}
	c.ExpiresAt = file.ExpiresAt.Time
	problem := func(name string, err error) {
		if err != nil {
			c.Problems = append(c.Problems, badField(c.ID, name, err))
		}
	}
	problem("last_activated_at", file.LastActivatedAt.err)
	problem("pinned_at", file.PinnedAt.err)
	problem("archived_at", file.ArchivedAt.err)
	problem("expires_at", file.ExpiresAt.err)
	for _, key := range slices.Sorted(maps.Keys(file.Labels.value)) {
		label := file.Labels.value[key]
		if label.err != nil {
			problem("the label "+text.Quote(key), label.err)
			continue
		}
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels[key] = label.value
	}
	_, labelled := file.Labels.value[labelHidden]
	c.Hidden = file.Hidden.value || labelled
	if parent, err := ParseID(c.Labels[labelParent]); err == nil && parent != c.ID {
		c.Parent = parent
	}
	return nil
}

// field is a value of a type, or what is wrong with it. Null is the zero value.
type field[T any] struct {
	value T
	err   error
}

func (f *field[T]) UnmarshalJSON(data []byte) error {
	var wrong *json.UnmarshalTypeError
	if f.err = json.Unmarshal(data, &f.value); errors.As(f.err, &wrong) {
		wanted := map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "true or false"}[wrong.Type.Kind()]
		f.err = fmt.Errorf("it is %s, and not %s", jsonKind(data), cmp.Or(wanted, "an object"))
	}
	return nil
}

// jsonKind names what a JSON value is.
func jsonKind(value []byte) string {
	switch bytes.TrimLeft(value, " \t\r\n")[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}

func badField(id transcript.ID, name string, err error) store.Problem {
	return store.Problem{ID: id, Kind: store.BadField, Field: name, Err: fmt.Errorf("%s counts as missing: %w", name, err)}
}

// timestamp is a time as JP writes it, or RFC 3339; null is the zero time.
type timestamp struct {
	time.Time
	err error // why it cannot be used
}

func (t *timestamp) UnmarshalJSON(data []byte) error {
	var text *string
	if t.err = json.Unmarshal(data, &text); t.err == nil && text != nil {
		t.Time, t.err = transcript.ParseTimestamp(*text)
	}
	return nil
}
