package jp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
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
	if key == "" || !strings.Contains(letters, key[:1]) || strings.Trim(key, letters+digits+"_-") != "" {
		return &BadLabelError{key}
	}
	return nil
}

// apply makes the change to the metadata of a conversation.
func (change Change) apply(m metadata, c transcript.Conversation, now time.Time) error {
	labels := map[string]*string{}
	maps.Copy(labels, change.Labels)
	if change.Title != nil {
		if delete(m, "title"); *change.Title != "" {
			m.set("title", *change.Title)
		}
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
	if change.Hidden != nil {
		delete(m, "hidden")
		labels[labelHidden] = nil
		if *change.Hidden {
			m.set("hidden", true)
			labels[labelHidden] = new(string)
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

// Edited is what an edit did.
type Edited struct {
	After transcript.Conversation
	// Changed reports whether the metadata became another one, be it in what no
	// conversation is known by, such as a label that is no text.
	Changed bool

	before transcript.Conversation
	data   []byte // metadata.json after it
}

// Edit changes the metadata of a conversation, live or archived, as decide says
// for the metadata of the moment: nobody else changes it meanwhile. A new title
// renames its directory, as JP does. What is as it is to be is not written.
func (wr *Writer) Edit(ctx context.Context, id transcript.ID, decide func(transcript.Conversation) Change) (e Edited, err error) {
	err = wr.change(ctx, id, func(c *writing, copies []place) error {
		e, err = c.edit(copies, func(m metadata, was transcript.Conversation) error { return decide(was).apply(m, was, wr.now()) })
		if err != nil || e.After.Title == e.before.Title {
			return err
		}
		return c.rename(copies, e.After.Title)
	})
	return e, err
}

// edit changes the metadata of a conversation, of which some copies count, in each copy: one that
// is left behind in the archive may count another time.
func (c *writing) edit(copies []place, edit func(metadata, transcript.Conversation) error) (Edited, error) {
	e, err := c.edited(copies, edit)
	if err != nil {
		return e, err
	}
	var files []file
	groups, _ := c.group(c.all)
	for _, group := range groups {
		// The first write makes its copy the one that counts, so that the change is made with it: of
		// a live conversation the newer copy counts, of an archived one the project's.
		if !group[0].archived {
			slices.Reverse(group)
		}
		for _, p := range group {
			files = append(files, file{p, MetadataFile, e.data})
		}
	}
	return e, c.write(files...)
}

// edited returns what the metadata of a conversation is after an edit. Where that changes
// nothing the metadata is as it was, byte for byte.
func (c *writing) edited(copies []place, edit func(metadata, transcript.Conversation) error) (e Edited, err error) {
	id := copies[0].number.id()
	before, after := store.Conversation{Conversation: c.conversation(copies)}, store.Conversation{Conversation: c.conversation(copies)}
	if e.data, err = c.readMetadata(copies, &before); err != nil {
		return e, about(id, err)
	}
	m, _ := parseMetadata(e.data) // which has been read
	was := m.bytes()
	err = edit(m, before.Conversation)
	if is := m.bytes(); !bytes.Equal(was, is) {
		e.data, e.Changed = is, true
	}
	m.describe(&after)
	e.before, e.After = before.Conversation, after.Conversation
	if err == nil && len(e.data) > maxMetadataSize {
		err = tooLarge(MetadataFile, maxMetadataSize)
	}
	var label *BadLabelError
	if err != nil && !errors.As(err, &label) {
		err = about(id, err)
	}
	return e, err
}

func tooLarge(file string, max int64) error {
	return fmt.Errorf("%s: %w", file, &safefile.TooLargeError{Most: max})
}

// rename gives the directories of a conversation the name of its title. Where another
// directory has that name they keep theirs, which nothing depends on.
func (c *writing) rename(copies []place, title string) error {
	for _, p := range copies {
		to := path.Join(path.Dir(p.dir), dirName(p.number, title))
		if to == p.dir || c.exists(p.store, to) {
			continue
		}
		if err := c.move(p.store, p.dir, to); err != nil {
			return err
		}
	}
	return nil
}
