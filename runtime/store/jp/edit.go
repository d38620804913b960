package jp

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Change is a change of a conversation's metadata. Nil leaves a field as it is.
type Change struct {
	Title  *string // empty removes it
	Pinned *bool
	// Hidden is written as a key, which JP drops when it writes the file, and as a label, which it keeps.
	Hidden  *bool
	Expires *time.Time         // the zero time means never
	Labels  map[string]*string // labels to set; nil removes one
	Parent  *transcript.ID     // empty removes it
}

// BadLabelError is the error for a key of a label that JP does not accept.
type BadLabelError struct{ Key string }

func (e *BadLabelError) Error() string {
	return fmt.Sprintf("bad label key %q: it begins with a letter, and has letters, digits, '_' and '-'", e.Key)
}

// CheckLabel returns a [*BadLabelError] if JP does not accept the key for a label.
func CheckLabel(key string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if key == "" || !strings.Contains(letters, key[:1]) || strings.Trim(key, letters+digits+"_-") != "" {
		return &BadLabelError{key}
	}
	return nil
}

// apply makes the change, at the time now, in m, the metadata of the conversation c. The error is that of setLabels.
func (change Change) apply(m metadata, c transcript.Conversation, now time.Time) error {
	if change.Title != nil {
		if delete(m, "title"); *change.Title != "" {
			m.set("title", *change.Title)
		}
	}
	switch {
	case change.Pinned == nil: // no change
	case !*change.Pinned:
		delete(m, "pinned_at")
	case c.PinnedAt.IsZero(): // otherwise the pin keeps its time
		m.setTime("pinned_at", now)
	}
	if change.Expires != nil {
		m.setTime("expires_at", *change.Expires)
	}
	labels := map[string]*string{} // nil removes a label
	maps.Copy(labels, change.Labels)
	if change.Hidden != nil { // JP drops the key "hidden" when it writes the file, and keeps the label: both are set
		delete(m, "hidden")
		labels[labelHidden] = nil
		if *change.Hidden {
			m.set("hidden", true)
			labels[labelHidden] = new(string) // a label with an empty value
		}
	}
	if change.Parent != nil {
		labels[labelParent] = nil
		if *change.Parent != "" {
			labels[labelParent] = (*string)(change.Parent)
		}
	}
	return m.setLabels(labels)
}

// Edited is the result of an edit.
type Edited struct {
	Title   string // after it
	Changed bool   // whether anything in the metadata is different
	data    []byte
}

// Edit changes the metadata of a conversation, live or archived. It locks the conversation, calls decide with the recorded
// metadata, and makes the change that decide returns. If the title is then another one, Edit also renames the directory, as
// JP does. It writes only files whose content changes.
func (wr *Writer) Edit(ctx context.Context, id transcript.ID, decide func(transcript.Conversation) Change) (e Edited, err error) {
	err = wr.change(ctx, id, func(tx *transaction, copies []place) (err error) {
		oldTitle := ""
		e, err = tx.edit(copies, func(m metadata, before transcript.Conversation) error {
			oldTitle = before.Title
			return decide(before).apply(m, before, wr.now())
		})
		if err == nil && e.Title != oldTitle {
			tx.rename(copies, e.Title)
		}
		return err
	})
	return e, err
}

// edit changes the metadata of the conversation in copies, and writes it to tx.all, all live and archived places of the
// conversation. Readers find the new metadata as soon as the first of these places has it.
func (tx *transaction) edit(copies []place, change func(metadata, transcript.Conversation) error) (Edited, error) {
	e, err := tx.edited(copies, change)
	if err != nil {
		return e, err
	}
	tx.write(tx.all, file{MetadataFile, e.data})
	return e, tx.err
}

// edited returns the metadata after a change, and writes nothing. If the change has no effect, the metadata keeps every
// byte. The error is that of reading the metadata or of change, or says that the result is too large.
func (tx *transaction) edited(copies []place, change func(metadata, transcript.Conversation) error) (e Edited, err error) {
	c := store.Conversation{Conversation: tx.conversation(copies)}
	if e.data, err = tx.readMetadata(copies, &c); err != nil {
		return e, about(c.ID, err)
	}
	m, _ := parseMetadata(e.data) // readMetadata has parsed it
	before := m.bytes()
	if err := change(m, c.Conversation); err != nil {
		return e, about(c.ID, err)
	}
	if after := m.bytes(); !bytes.Equal(before, after) {
		e.data, e.Changed = after, true
	}
	e.Title = jsontext.String(jsontext.Raw(m["title"]))
	if len(e.data) > maxMetadataSize {
		return e, about(c.ID, tooLarge(MetadataFile, maxMetadataSize))
	}
	return e, nil
}

func tooLarge(file string, max int64) error {
	return fmt.Errorf("%s: %w", file, &safefile.TooLargeError{Most: max})
}

// rename renames the directories of a conversation after its title. A directory keeps its name if the new one is taken:
// nothing depends on the name.
func (tx *transaction) rename(copies []place, title string) {
	for _, p := range copies {
		if to := path.Join(path.Dir(p.dir), dirName(p.number, title)); !tx.exists(p.store, to) {
			tx.move(p.store, p.dir, to)
		}
	}
}
