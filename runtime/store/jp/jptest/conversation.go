package jptest

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The files of a conversation directory.
const (
	MetadataFile   = "metadata.json"
	BaseConfigFile = "base_config.json"
	EventsFile     = "events.json"
)

// eventStep is the time between two events. It is not a whole number of
// milliseconds so that timestamps carry microseconds, as real ones do.
const eventStep = 4*time.Second + 137_411*time.Microsecond

// defaultBaseConfig holds the settings JP requires: without a model and a rule
// for running tools it does not load the conversation.
const defaultBaseConfig = `{
  "assistant": {
    "name": "Assistant",
    "model": {
      "id": {
        "provider": "ollama",
        "name": "example"
      }
    }
  },
  "conversation": {
    "tools": {
      "*": {
        "run": "ask",
        "result": "unattended",
        "style": {
          "hidden": false,
          "inline_results": "full",
          "results_file_link": "off",
          "parameters": "json"
        }
      }
    }
  }
}
`

// Conversation builds one conversation. Its methods return the conversation
// itself so that calls can be chained.
type Conversation struct {
	id, slug string
	meta     metadata
	archived bool
	encoding Encoding
	clock    time.Time
	events   [][]byte
	edits    []func(files map[string][]byte)
	modTimes map[string]time.Time
	errs     []error
}

// metadata is metadata.json, with its keys in the order JP writes them. JP has
// no "hidden" yet; it is where readers will look for it.
type metadata struct {
	Title           string            `json:"title,omitempty"`
	LastActivatedAt string            `json:"last_activated_at"`
	PinnedAt        string            `json:"pinned_at,omitempty"`
	ArchivedAt      string            `json:"archived_at,omitempty"`
	ExpiresAt       string            `json:"expires_at,omitempty"`
	Hidden          bool              `json:"hidden,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
}

func newConversation(id, slug string) *Conversation {
	c := &Conversation{id: id, slug: slug, modTimes: map[string]time.Time{}}
	ds, err := strconv.ParseUint(id, 10, 50)
	if err != nil {
		c.fail(fmt.Errorf("id %q is not a number of tenths of a second, such as 17648402467", id))
	}
	if strings.ContainsAny(slug, `/\`) {
		c.fail(fmt.Errorf("slug %q holds a path separator", slug))
	}
	c.clock = time.UnixMilli(int64(ds) * 100).UTC()
	c.meta.LastActivatedAt = Timestamp(c.clock)
	return c
}

func (c *Conversation) fail(err error) { c.errs = append(c.errs, err) }

// ID is the id as commands print it: "jp-c" and the digits.
func (c *Conversation) ID() string { return "jp-c" + c.id }

// Dir is the conversation's directory below the root of a store, with slashes.
func (c *Conversation) Dir() string {
	if c.archived {
		return path.Join("conversations/.archive", c.dirName())
	}
	return path.Join("conversations", c.dirName())
}

func (c *Conversation) dirName() string {
	if c.slug == "" {
		return c.id
	}
	return c.id + "-" + c.slug
}

// Title sets the title; without one the key is absent.
func (c *Conversation) Title(title string) *Conversation {
	c.meta.Title = title
	return c
}

// LastActivated sets last_activated_at; the default is the creation time.
func (c *Conversation) LastActivated(at time.Time) *Conversation {
	c.meta.LastActivatedAt = Timestamp(at)
	return c
}

// Pinned pins the conversation.
func (c *Conversation) Pinned(at time.Time) *Conversation {
	c.meta.PinnedAt = Timestamp(at)
	return c
}

// Archived puts the conversation under .archive. The zero time leaves
// archived_at out: the directory alone decides, and the field may be missing.
func (c *Conversation) Archived(at time.Time) *Conversation {
	c.archived = true
	c.meta.ArchivedAt = ""
	if !at.IsZero() {
		c.meta.ArchivedAt = Timestamp(at)
	}
	return c
}

// Expires sets the earliest time at which JP may delete the conversation.
func (c *Conversation) Expires(at time.Time) *Conversation {
	c.meta.ExpiresAt = Timestamp(at)
	return c
}

// Hidden marks the conversation as hidden.
func (c *Conversation) Hidden() *Conversation {
	c.meta.Hidden = true
	return c
}

// Label adds a label; a bare label has an empty value.
func (c *Conversation) Label(key, value string) *Conversation {
	if c.meta.Labels == nil {
		c.meta.Labels = map[string]string{}
	}
	c.meta.Labels[key] = value
	return c
}

// BaseConfig replaces the default base_config.json.
func (c *Conversation) BaseConfig(config any) *Conversation {
	data, err := indented(config, "")
	if err != nil {
		c.fail(fmt.Errorf("base config: %w", err))
		return c
	}
	return c.File(BaseConfigFile, append(data, '\n'))
}

// File writes a file of the conversation's directory as it is: an extra file, or
// a damaged one in place of the one that would have been written.
func (c *Conversation) File(name string, data []byte) *Conversation {
	data = bytes.Clone(data)
	return c.edit(name, func(files map[string][]byte) { files[name] = data })
}

// Edit changes a file after it was rendered, for example to cut it off.
func (c *Conversation) Edit(name string, change func([]byte) []byte) *Conversation {
	return c.edit(name, func(files map[string][]byte) { files[name] = change(files[name]) })
}

// Omit leaves a file out. Without base_config.json the first event should be a
// config delta, as in conversations from before April 2026.
func (c *Conversation) Omit(name string) *Conversation {
	return c.edit(name, func(files map[string][]byte) { delete(files, name) })
}

func (c *Conversation) edit(name string, change func(map[string][]byte)) *Conversation {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		c.fail(fmt.Errorf("file %q is not a path below the conversation's directory", name))
		return c
	}
	c.edits = append(c.edits, change)
	return c
}

// ModTime sets the modification time of a file, which decides between the
// workspace's copy of a conversation and the user's.
func (c *Conversation) ModTime(name string, at time.Time) *Conversation {
	c.modTimes[name] = at
	return c
}

// render returns the files of the conversation's directory.
func (c *Conversation) render() (map[string][]byte, error) {
	meta, err := indented(c.meta, "")
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	files := map[string][]byte{
		MetadataFile:   append(meta, '\n'),
		BaseConfigFile: []byte(defaultBaseConfig),
		EventsFile:     c.renderEvents(),
	}
	for _, edit := range c.edits {
		edit(files)
	}
	return files, nil
}

func (c *Conversation) renderEvents() []byte {
	if len(c.events) == 0 {
		return []byte("[]\n")
	}
	data := make([]byte, 0, c.eventsSize())
	for i, e := range c.events {
		if i == 0 {
			data = append(data, '[')
		} else {
			data = append(data, ',')
		}
		data = append(data, "\n  "...)
		data = append(data, e...)
	}
	return append(data, "\n]\n"...)
}

// eventsSize is the length of events.json when it holds any event.
func (c *Conversation) eventsSize() int {
	size := len("\n]\n")
	for _, e := range c.events {
		size += len("[\n  ") + len(e)
	}
	return size
}

func (c *Conversation) write(root string) error {
	files, err := c.render()
	if err != nil {
		return err
	}
	dir := filepath.Join(root, filepath.FromSlash(c.Dir()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("creating directory: %w", err)
	}
	for name, data := range files {
		if err := writeFile(dir, file{name, data}); err != nil {
			return err
		}
	}
	for name, at := range c.modTimes {
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), at, at); err != nil {
			return fmt.Errorf("setting modification time: %w", err)
		}
	}
	return nil
}
