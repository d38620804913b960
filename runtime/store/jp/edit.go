package jp

import (
	"bytes"
	"context"
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
	Before, After transcript.Conversation
	// Changed reports whether the metadata became another one, be it in what no
	// conversation is known by, such as a label that is no text.
	Changed bool
	change  Change
}

// Edit changes the metadata of a conversation, live or archived, as decide says
// for the metadata of the moment: nobody else changes it meanwhile. A new title
// renames its directory, as JP does. What is as it is to be is not written. [Writer.Keep]
// holds it against a JP that has read the conversation before.
func (wr *Writer) Edit(ctx context.Context, id transcript.ID, decide func(transcript.Conversation) Change) (e Edited, err error) {
	err = wr.change(ctx, id, func(c *writing, copies []found) error {
		p := c.place(copies)
		was, before, err := c.metadata(&p)
		e.Before = before
		if err != nil {
			return err
		}
		e.change = decide(before)
		data, err := e.change.of(was, before, wr.now())
		if err != nil {
			return err
		}
		e.Changed = !bytes.Equal(was, data)
		if e.After, err = parsed(&p, data); err != nil {
			return err
		}
		if err := c.replace(metadataOf(p, data)...); err != nil || e.After.Title == before.Title {
			return err
		}
		return c.rename(p, e.After.Title)
	})
	return e, err
}

// metadata reads the metadata that counts.
func (c *writing) metadata(p *place) ([]byte, transcript.Conversation, error) {
	loaded := store.Conversation{Conversation: p.conversation()}
	data, err := c.loadMetadata(p, &loaded)
	if err != nil {
		err = &ConversationError{p.number.id(), err}
	}
	return data, loaded.Conversation, err
}

// parsed is the conversation with other metadata.
func parsed(p *place, data []byte) (transcript.Conversation, error) {
	loaded := store.Conversation{Conversation: p.conversation()}
	err := parseMetadata(data, &loaded)
	if err == nil && len(data) > maxMetadataSize {
		err = tooLarge(metadataFile, int64(len(data)), maxMetadataSize)
	}
	if err != nil {
		err = &ConversationError{p.number.id(), err}
	}
	return loaded.Conversation, err
}

// of returns the metadata of a conversation with the change. Without one it is as it was, byte
// for byte.
func (change Change) of(data []byte, c transcript.Conversation, now time.Time) ([]byte, error) {
	return editMetadata(c.ID, data, func(o *object) error {
		labels := maps.Clone(change.Labels)
		if labels == nil {
			labels = map[string]*string{}
		}
		switch {
		case change.Title != nil && *change.Title == "":
			o.set("title", nil)
		case change.Title != nil:
			o.setText("title", *change.Title)
		}
		switch {
		case change.Pinned != nil && !*change.Pinned:
			o.setTime("pinned_at", time.Time{})
		case change.Pinned != nil && c.PinnedAt.IsZero():
			o.setTime("pinned_at", now)
		}
		if change.Expires != nil && !change.Expires.Equal(c.ExpiresAt) {
			o.setTime("expires_at", *change.Expires)
		}
		switch {
		case change.Hidden != nil && *change.Hidden:
			o.set("hidden", []byte("true"))
			labels[labelHidden] = new(string)
		case change.Hidden != nil:
			o.set("hidden", nil)
			labels[labelHidden] = nil
		}
		if parent := (*string)(change.Parent); parent != nil {
			if *parent == "" {
				parent = nil
			}
			labels[labelParent] = parent
		}
		return o.setLabels(labels)
	})
}

// editMetadata returns metadata that is edited, or as it was where that changes nothing.
func editMetadata(id transcript.ID, data []byte, edit func(*object) error) ([]byte, error) {
	o, err := parseObject(data)
	if err != nil {
		return nil, &ConversationError{id, fmt.Errorf("%s: %w", metadataFile, err)}
	}
	was := o.bytes("\n")
	if err := edit(&o); err != nil {
		return nil, err
	}
	edited := o.bytes("\n")
	if bytes.Equal(was, edited) {
		return data, nil
	}
	return append(edited, '\n'), nil
}

// formatTimestamp is a time as JP writes it to disk.
func formatTimestamp(t time.Time) string {
	text := t.UTC().Format("2006-01-02 15:04:05.999999999")
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// setLabels sets labels and removes those that are nil. Labels that are there
// already are not checked.
func (o *object) setLabels(labels map[string]*string) error {
	if len(labels) == 0 {
		return nil
	}
	var inner object
	if value := o.get("labels"); value != nil && string(value) != "null" {
		var err error
		if inner, err = parseObject(value); err != nil {
			return fmt.Errorf("labels: %w", err)
		}
	}
	was := inner.bytes("\n  ")
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] == nil {
			inner.set(key, nil)
			continue
		}
		if err := CheckLabel(key); err != nil {
			return err
		}
		inner.setText(key, *labels[key])
	}
	switch is := inner.bytes("\n  "); {
	case len(inner) == 0:
		o.set("labels", nil)
	case !bytes.Equal(was, is):
		o.set("labels", is)
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
