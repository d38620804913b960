package jp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// Change is what is to be changed of a conversation's metadata. Nil leaves
// something as it is.
type Change struct {
	Title  *string // empty for none
	Pinned *bool
	// Hidden is written as a key and as a label: what JP would drop, and what it
	// keeps.
	Hidden  *bool
	Expires *time.Time // zero for never
	// Labels are labels to set, and, with nil, to remove.
	Labels map[string]*string
	Parent *transcript.ID // empty for none
}

// BadLabelError is the error for a label whose key JP does not take.
type BadLabelError struct{ Key string }

func (e *BadLabelError) Error() string {
	return fmt.Sprintf("bad label key %q: it begins with a letter, and has letters, digits, '_' and '-'", e.Key)
}

// CheckLabel reports whether a label may have a key. The error is a
// [*BadLabelError].
func CheckLabel(key string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if key == "" || !strings.Contains(letters, key[:1]) || strings.Trim(key, letters+"0123456789_-") != "" {
		return &BadLabelError{key}
	}
	return nil
}

// Edited is what an edit did.
type Edited struct {
	After transcript.Conversation
	// Changed reports whether the metadata became another one, be it in what no
	// conversation is known by, such as a label that is no text.
	Changed bool
}

// Edit changes the metadata of a conversation, live or archived, as decide says
// for the metadata of the moment: nobody else changes it meanwhile. A new title
// renames its directory, as JP does. What is as it is to be is not written.
func (wr *Writer) Edit(ctx context.Context, id transcript.ID, decide func(transcript.Conversation) Change) (e Edited, err error) {
	err = wr.change(ctx, id, func(c *writing, copies []found) error {
		p := c.place(copies)
		was, before, err := c.metadata(&p)
		if err != nil {
			return err
		}
		data, after, err := edited(&p, was, func(m metadata) error { return decide(before).apply(m, before, wr.now()) })
		if err != nil {
			return err
		}
		e = Edited{after, !bytes.Equal(was, data)}
		if err := c.replace(metadataOf(p, data)...); err != nil || after.Title == before.Title {
			return err
		}
		return c.rename(p, after.Title)
	})
	return e, err
}

// metadata reads the metadata that counts.
func (c *writing) metadata(p *place) ([]byte, transcript.Conversation, error) {
	loaded := store.Conversation{Conversation: p.conversation()}
	data, err := c.readMetadata(p, &loaded)
	if err != nil {
		err = &ConversationError{p.number.id(), err}
	}
	return data, loaded.Conversation, err
}

// edited returns the metadata of a conversation after an edit, and what it says. Where the edit changes nothing the
// metadata is as it was, byte for byte.
func edited(p *place, data []byte, edit func(metadata) error) ([]byte, transcript.Conversation, error) {
	after := store.Conversation{Conversation: p.conversation()}
	m, err := parseMetadata(data)
	if err == nil {
		was := m.bytes()
		err = edit(m)
		if is := m.bytes(); !bytes.Equal(was, is) {
			data = is
		}
	}
	if err == nil {
		m.describe(&after)
	}
	if err == nil && len(data) > maxMetadataSize {
		err = tooLarge(metadataFile, maxMetadataSize)
	}
	var label *BadLabelError
	if err != nil && !errors.As(err, &label) {
		err = &ConversationError{p.number.id(), err}
	}
	return data, after.Conversation, err
}

// apply makes the change to the metadata of a conversation.
func (change Change) apply(m metadata, c transcript.Conversation, now time.Time) error {
	labels := map[string]*string{}
	maps.Copy(labels, change.Labels)
	switch {
	case change.Title != nil && *change.Title == "":
		delete(m, "title")
	case change.Title != nil:
		m.set("title", *change.Title)
	}
	switch {
	case change.Pinned != nil && !*change.Pinned:
		delete(m, "pinned_at")
	case change.Pinned != nil && c.PinnedAt.IsZero():
		m.setTime("pinned_at", now)
	}
	if change.Expires != nil {
		m.setTime("expires_at", *change.Expires)
	}
	switch {
	case change.Hidden != nil && *change.Hidden:
		m.set("hidden", true)
		labels[labelHidden] = new(string)
	case change.Hidden != nil:
		delete(m, "hidden")
		labels[labelHidden] = nil
	}
	if parent := (*string)(change.Parent); parent != nil {
		if *parent == "" {
			parent = nil
		}
		labels[labelParent] = parent
	}
	return m.setLabels(labels)
}

// setLabels sets labels and removes those that are nil. Labels that are there
// already are not checked.
func (m metadata) setLabels(labels map[string]*string) error {
	if len(labels) == 0 {
		return nil
	}
	var was metadata
	if err := valueOf(m["labels"], &was, "an object"); err != nil {
		return fmt.Errorf("labels: %w", err)
	}
	inner := metadata{}
	maps.Copy(inner, was)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] == nil {
			delete(inner, key)
			continue
		}
		if err := CheckLabel(key); err != nil {
			return err
		}
		inner.set(key, *labels[key])
	}
	switch {
	case len(inner) == 0:
		delete(m, "labels")
	case !maps.EqualFunc(was, inner, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }):
		m.set("labels", inner)
	}
	return nil
}

// metadataOf are the replacements that give every copy the same metadata. The
// first one makes its copy the one that counts, so that the change is made with it:
// of a live conversation the newer copy counts, of an archived one the project's.
func metadataOf(p place, data []byte) []replacement {
	order := []int{userStore, projectStore}
	if p.archived {
		order = []int{projectStore, userStore}
	}
	var list []replacement
	for _, i := range order {
		if p.dirs[i] != "" {
			list = append(list, replacement{i, p.dirs[i], metadataFile, data})
		}
	}
	return list
}

// rename gives the directories of a conversation the name of its title. Where another
// directory has that name they keep theirs, which nothing depends on.
func (c *writing) rename(p place, title string) error {
	for i, dir := range p.dirs {
		to := path.Join(path.Dir(dir), dirName(p.number, title))
		if dir == "" || to == dir || c.exists(i, to) {
			continue
		}
		if err := c.move(i, dir, to); err != nil {
			return err
		}
	}
	return nil
}
