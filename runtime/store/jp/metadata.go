package jp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	var file, labels map[string]json.RawMessage
	var title string
	var hidden bool
	if err := valueOf(data, &file, "an object"); err != nil {
		return fmt.Errorf("metadata.json cannot be read: %w", err)
	}
	for _, field := range []struct {
		name, wanted string
		into         any
	}{{"title", "a string", &title}, {"labels", "an object", &labels}, {"hidden", "true or false", &hidden}} {
		if err := valueOf(file[field.name], field.into, field.wanted); err != nil {
			return fmt.Errorf("metadata.json cannot be read: %s: %w", field.name, err)
		}
	}
	for _, field := range []struct {
		name string
		into *time.Time
	}{{"last_activated_at", &c.LastActivatedAt}, {"pinned_at", &c.PinnedAt}, {"archived_at", &c.ArchivedAt}, {"expires_at", &c.ExpiresAt}} {
		var err error
		if *field.into, err = timestampOf(file[field.name]); err != nil {
			c.Problems = append(c.Problems, badField(c.ID, field.name, err))
		}
	}
	if !c.Archived { // the directory decides, and a stamp is stale
		c.ArchivedAt = time.Time{}
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		var label string
		if err := valueOf(labels[key], &label, "a string"); err != nil {
			c.Problems = append(c.Problems, badField(c.ID, "the label "+text.Quote(key), err))
			continue
		}
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels[key] = label
	}
	_, labelled := labels[labelHidden]
	c.Title, c.Hidden = title, hidden || labelled
	if parent, err := ParseID(c.Labels[labelParent]); err == nil && parent != c.ID {
		c.Parent = parent
	}
	return nil
}

// valueOf reads a JSON value that is to be what is wanted. Null and none leave what is there.
func valueOf(raw []byte, into any, wanted string) error {
	if raw == nil {
		return nil
	}
	err := json.Unmarshal(raw, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("it is %s, and not %s", jsonKind(raw), wanted)
	}
	return err
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

// timestampOf reads a time as JP writes it, or RFC 3339; null and none are the zero time.
func timestampOf(raw []byte) (time.Time, error) {
	var text *string
	if raw != nil {
		if err := json.Unmarshal(raw, &text); err != nil {
			return time.Time{}, err
		}
	}
	if text == nil {
		return time.Time{}, nil
	}
	return transcript.ParseTimestamp(*text)
}

func badField(id transcript.ID, name string, err error) store.Problem {
	return store.Problem{ID: id, Kind: store.BadField, Field: name, Err: fmt.Errorf("%s counts as missing: %w", name, err)}
}
