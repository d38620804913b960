package jp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// New is a conversation that is to be made.
type New struct {
	// Begun is when it began. Its id is of that time, or of one shortly before.
	Begun  time.Time
	Title  string
	Hidden bool
	Parent transcript.ID // empty for none
	// Label and Value are a label that no other conversation of the workspace has with this value.
	Label, Value string
	Events       []NewEvent
	Model        Model // that was asked
}

// Create makes a live conversation, in the project and in the user's store where that is there, and returns its id. Where
// one with the label is there already, live or archived, it makes none and returns the id of that, and false.
func (wr *Writer) Create(ctx context.Context, n New) (id transcript.ID, made bool, err error) {
	events, err := layEvents(n.Events)
	if err != nil {
		return "", false, err
	}
	if err := CheckLabel(n.Label); err != nil {
		return "", false, err
	}
	c, err := wr.begin(ctx)
	if err != nil {
		return "", false, err
	}
	defer c.end()
	last := numberAt(n.Begun)
	if err := c.past(ctx, last); err != nil {
		return "", false, err
	}
	if err := c.lockNew(ctx); err != nil {
		return "", false, err
	}
	if id, err := c.labelled(ctx, last, n.Label, n.Value); err != nil || id != "" {
		return id, false, err
	}
	if err := c.sweep(); err != nil {
		return "", false, err
	}
	free, err := c.freeNumber(ctx, last)
	if err != nil {
		return "", false, err
	}
	metadata := &object{indent: "\n  ", end: []byte("\n")}
	metadata.setTime("last_activated_at", n.Begun)
	change := Change{Parent: &n.Parent, Labels: map[string]*string{n.Label: &n.Value}}
	if n.Title != "" {
		change.Title = &n.Title
	}
	if n.Hidden {
		change.Hidden = &n.Hidden
	}
	data, err := c.changed(metadata.bytes(), transcript.Conversation{ID: free.id()}, change)
	if err != nil {
		return "", false, err
	}
	base, err := wr.w.baseConfig(n.Model)
	if err != nil {
		return "", false, err
	}
	files := []newFile{fileOf(baseConfigFile, base), fileOf(eventsFile, slices.Concat([]byte("["), events, []byte("\n]\n"))), fileOf(metadataFile, data)}
	if err := c.newConversation(free, []int{userStore, projectStore}, dirName(free, n.Title), files); err != nil {
		return "", false, err
	}
	return free.id(), true, nil
}

// maxBegun is how many numbers before that of the time at which a conversation began it may have: so many begin at one time.
// One that a former version made may have one after it.
const maxBegun = 1 << 10

// labelled returns the conversation with a label among those which began at about a time, or "".
func (c *writing) labelled(ctx context.Context, at number, label, value string) (transcript.ID, error) {
	all, _, err := c.readDirs(ctx, everywhere)
	if err != nil {
		return "", err
	}
	near := slices.DeleteFunc(all, func(f found) bool { return f.number < at-maxBegun || f.number > at+maxBegun })
	places, _ := c.pair(near)
	for _, p := range places {
		_, loaded, err := c.metadata(&p)
		if err != nil {
			continue // it is damaged, and not one that was made here
		}
		if loaded.Labels[label] == value {
			return loaded.ID, nil
		}
	}
	return "", nil
}

// Labelled returns the conversation that [Writer.Create] takes for the one with a label that began at a time, or "" where it
// would make one.
func (w *Workspace) Labelled(ctx context.Context, begun time.Time, label, value string) (transcript.ID, error) {
	opened, _, err := w.Open(ctx)
	if err != nil {
		return "", err
	}
	defer opened.Close()
	c := writing{session: opened.(*session)}
	return c.labelled(ctx, numberAt(begun), label, value)
}

// Model is a model as JP knows it.
type Model struct {
	// Provider and Name are the model's. Where JP has no such provider it is empty, and Name is what JP calls an alias.
	Provider, Name string
	BaseURL        string // of the provider, as JP has it; empty is the provider's own
	KeyEnv         string // the variable with the key; empty is the provider's own
}

// baseConfig is what JP needs to go on in a conversation: a model, how its provider is reached, and whether tools run. It
// is what JP is configured to begin one with, and where that has no model, the one that was asked.
func (w *Workspace) baseConfig(asked Model) ([]byte, error) {
	configured := w.configured()
	base := nested("ask", "conversation", "tools", "*", "run") // without it JP loads nothing
	for _, key := range kept() {
		if part, ok := at(configured, key...).(map[string]any); ok {
			overlay(base, nested(part, key...))
		}
	}
	if at(base, "assistant", "model", "id") == nil {
		overlay(base, asked.config())
	}
	data, err := json.MarshalIndent(base, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", baseConfigFile, err)
	}
	return append(data, '\n'), nil
}

// config returns the configuration of JP with a model.
func (m Model) config() map[string]any {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/~-"
	if m.Provider == "" || m.Name == "" || strings.Trim(m.Name, allowed) != "" {
		return nested(cmp.Or(strings.ReplaceAll(m.Name, "/", "-"), "unknown"), "assistant", "model", "id")
	}
	config := nested(map[string]any{"provider": m.Provider, "name": m.Name}, "assistant", "model", "id")
	for key, value := range map[string]string{"base_url": m.BaseURL, "api_key_env": m.KeyEnv} {
		if value != "" {
			overlay(config, nested(value, "providers", "llm", m.Provider, key))
		}
	}
	return config
}
