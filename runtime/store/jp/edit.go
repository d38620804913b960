package jp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
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

// Edit changes the metadata of a conversation, live or archived, as decide says
// for the metadata of the moment: nobody else changes it meanwhile. A new title
// renames its directory, as JP does. What is as it is to be is not written. [Writer.Keep]
// holds it against a JP that has read the conversation before.
func (wr *Writer) Edit(ctx context.Context, id transcript.ID, decide func(transcript.Conversation) Change) (Edited, error) {
	c, err := wr.begin(ctx, id)
	if err != nil {
		return Edited{}, err
	}
	defer c.end()
	p, err := c.find(ctx, id)
	if err != nil {
		return Edited{}, err
	}
	edited, err := c.edit(p, decide)
	if err != nil {
		return edited, err
	}
	return edited, c.settle()
}

// Edited is what an edit did.
type Edited struct {
	Before, After transcript.Conversation
	// Changed reports whether the metadata became another one, be it in what no
	// conversation is known by, such as a label that is no text.
	Changed bool
	change  Change
}

func (c *writing) edit(p place, decide func(transcript.Conversation) Change) (Edited, error) {
	was, before, err := c.metadata(&p)
	edited := Edited{Before: before}
	if err != nil {
		return edited, err
	}
	edited.change = decide(before)
	data, err := c.changed(was, before, edited.change)
	if err != nil {
		return edited, err
	}
	edited.Changed = !bytes.Equal(was, data)
	if edited.After, err = c.parsed(&p, data); err != nil {
		return edited, err
	}
	if edited.After.Title != before.Title {
		return edited, c.rename(&p, edited.After.Title, data)
	}
	return edited, c.writeMetadata(p, data)
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
func (c *writing) parsed(p *place, data []byte) (transcript.Conversation, error) {
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

// changed returns metadata with a change. Whatever the change is not about stays
// as it is, byte for byte.
func (c *writing) changed(data []byte, now transcript.Conversation, change Change) ([]byte, error) {
	o, err := parseObject(data, 0)
	if err != nil {
		return nil, &ConversationError{now.ID, fmt.Errorf("%s: %w", metadataFile, err)}
	}
	labels := maps.Clone(change.Labels)
	label := func(key string, value *string) {
		if labels == nil {
			labels = map[string]*string{}
		}
		labels[key] = value
	}
	if change.Title != nil {
		o.setText("title", *change.Title)
	}
	if change.Pinned != nil && *change.Pinned == now.PinnedAt.IsZero() {
		var at time.Time
		if *change.Pinned {
			at = c.wr.now()
		}
		o.setTime("pinned_at", at)
	}
	if change.Expires != nil && !change.Expires.Equal(now.ExpiresAt) {
		o.setTime("expires_at", *change.Expires)
	}
	if change.Hidden != nil {
		if *change.Hidden {
			o.set("hidden", []byte("true"))
			label(labelHidden, new(string))
		} else {
			o.set("hidden", nil)
			label(labelHidden, nil)
		}
	}
	if change.Parent != nil {
		parent := string(*change.Parent)
		label(labelParent, &parent)
		if parent == "" {
			label(labelParent, nil)
		}
	}
	if err := o.setLabels(labels); err != nil {
		return nil, err
	}
	return o.bytes(), nil
}

// setTime gives a key a time as JP writes it; the zero time removes it.
func (o *object) setTime(key string, at time.Time) {
	if at.IsZero() {
		o.set(key, nil)
		return
	}
	o.set(key, transcript.AppendQuoted(nil, []byte(formatTimestamp(at))))
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
	value := o.get("labels")
	if value == nil || string(value) == "null" {
		value = []byte("{}")
	}
	inner, err := parseObject(value, 1)
	if err != nil {
		return fmt.Errorf("labels: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		text := labels[key]
		if text == nil {
			inner.set(key, nil)
			continue
		}
		if err := CheckLabel(key); err != nil {
			return err
		}
		var old *string
		if json.Unmarshal([]byte(cmp.Or(string(inner.get(key)), "null")), &old) == nil && old != nil && *old == *text {
			continue
		}
		inner.set(key, transcript.AppendQuoted(nil, []byte(*text)))
	}
	if len(inner.members) == 0 {
		o.set("labels", nil)
		return nil
	}
	o.set("labels", inner.bytes())
	return nil
}

// metadataOf are the replacements that give every copy the same metadata. The
// first one makes its copy the one that counts, so that the change is made with it:
// of a live conversation the newer copy counts, of an archived one the project's.
func (c *writing) metadataOf(p place, data []byte) []*replacement {
	order := []int{userStore, projectStore}
	if p.archived {
		order = []int{projectStore, userStore}
	}
	var list []*replacement
	for _, i := range order {
		if dir := p.dirs[i]; dir != "" {
			r := replaceWith(i, dir, metadataFile, data)
			r.unchanged = c.sameBytes(i, path.Join(dir, metadataFile), data)
			list = append(list, r)
		}
	}
	return list
}

func (c *writing) writeMetadata(p place, data []byte) error {
	list := c.metadataOf(p, data)
	if err := c.stage(list); err != nil {
		return err
	}
	return c.commit(list)
}

// rename writes metadata with a new title, and gives the directories its name
// before. Where another directory has that name they keep theirs, which nothing
// depends on.
func (c *writing) rename(p *place, title string, data []byte) error {
	list := c.metadataOf(*p, data)
	if err := c.stage(list); err != nil {
		return err
	}
	for _, r := range list {
		parent := path.Dir(r.dir)
		to := path.Join(parent, dirName(p.number, title))
		if to == r.dir || c.exists(r.store, to) {
			continue
		}
		if err := c.move(r.store, r.dir, to); err != nil {
			c.unstage(list)
			return err
		}
		r.dir = to
		if r.staged != "" {
			r.staged = path.Join(to, path.Base(r.staged))
		}
	}
	return c.commit(list)
}
