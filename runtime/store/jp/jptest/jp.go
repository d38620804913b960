package jptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// JP changes the conversations of a workspace as JP does (4c1c39f): it has read a conversation before it locks it, writes all
// files of it as it has read them, and gives a new one the tenth of a second that it is, whether one has it or not. It has
// the locks of Unix.
type JP struct {
	Project, User string // the .jp directory, and the user's store
	Now           func() time.Time
	// Read is called when a conversation has been read, and is not locked yet; nil for nothing to be done.
	Read func()
}

// ErrLocked is the error for a conversation that another process has locked: JP does not wait.
var ErrLocked = errors.New("the conversation is locked")

// jpMetadata is what JP knows of metadata.json. It drops all other keys.
type jpMetadata struct {
	Title           string            `json:"title,omitempty"`
	LastActivatedAt string            `json:"last_activated_at"`
	PinnedAt        string            `json:"pinned_at,omitempty"`
	ArchivedAt      string            `json:"archived_at,omitempty"`
	ExpiresAt       string            `json:"expires_at,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
}

// Fork makes a conversation of another one, and returns its id.
func (j JP) Fork(id string) (string, error) {
	metadata, stream, err := j.load(id)
	if err != nil {
		return "", err
	}
	metadata.LastActivatedAt, metadata.ExpiresAt = Timestamp(j.Now()), ""
	fork := "jp-c" + strconv.FormatInt(j.Now().UnixMilli()/100, 10)
	return fork, j.locked(fork, func() error { return j.store(fork, metadata, stream) })
}

// Label gives a conversation a label.
func (j JP) Label(id, key, value string) error {
	metadata, stream, err := j.load(id)
	if err != nil {
		return err
	}
	metadata.Labels = maps.Clone(metadata.Labels)
	if metadata.Labels == nil {
		metadata.Labels = map[string]string{}
	}
	metadata.Labels[key] = value
	return j.locked(id, func() error { return j.store(id, metadata, stream) })
}

// Remove removes a conversation.
func (j JP) Remove(id string) error {
	return j.locked(id, func() error {
		for _, root := range j.roots() {
			if dir := find(root, id); dir != "" {
				if err := os.RemoveAll(dir); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (j JP) roots() []string {
	return []string{filepath.Join(j.User, "conversations"), filepath.Join(j.Project, "conversations")}
}

// find returns the directory of a conversation in a store; "" for none.
func find(root, id string) string {
	found, _ := filepath.Glob(filepath.Join(root, strings.TrimPrefix(id, "jp-c")+"*"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// load reads a conversation from the copy that counts: the newer one of each.
func (j JP) load(id string) (metadata jpMetadata, stream map[string][]byte, err error) {
	var newest [2]time.Time
	stream = map[string][]byte{}
	for _, root := range j.roots() {
		dir := find(root, id)
		if dir == "" {
			continue
		}
		for i, names := range [][]string{{MetadataFile}, {EventsFile, BaseConfigFile}} {
			info, err := os.Stat(filepath.Join(dir, names[0]))
			if err != nil {
				return metadata, nil, err
			}
			if !info.ModTime().After(newest[i]) {
				continue
			}
			newest[i] = info.ModTime()
			for _, name := range names {
				data, err := os.ReadFile(filepath.Join(dir, name))
				switch {
				case errors.Is(err, os.ErrNotExist) && name == BaseConfigFile:
				case err != nil:
					return metadata, nil, err
				case name != MetadataFile:
					stream[name] = data
				default:
					metadata = jpMetadata{}
					if err := json.Unmarshal(data, &metadata); err != nil {
						return metadata, nil, fmt.Errorf("%s: %w", dir, err)
					}
				}
			}
		}
	}
	if newest[0].IsZero() {
		return metadata, nil, fmt.Errorf("%s: not found", id)
	}
	if j.Read != nil {
		j.Read()
	}
	return metadata, stream, nil
}

// store writes a conversation in both stores, in the place of one that has its id.
func (j JP) store(id string, metadata jpMetadata, stream map[string][]byte) error {
	data, err := json.MarshalIndent(metadata, "", "  ")
	if err != nil {
		return err
	}
	files := maps.Clone(stream)
	files[MetadataFile] = append(data, '\n')
	for _, root := range j.roots() {
		dir := find(root, id)
		if dir == "" {
			dir = filepath.Join(root, strings.TrimPrefix(id, "jp-c"))
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for name, data := range files {
			temp := filepath.Join(dir, name+".tmp")
			err := os.WriteFile(temp, data, 0o644)
			if err == nil {
				err = os.Rename(temp, filepath.Join(dir, name))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// locked does something while it has the lock of a conversation.
func (j JP) locked(id string, do func() error) error {
	locks := filepath.Join(j.User, "locks")
	if err := os.MkdirAll(locks, 0o755); err != nil {
		return err
	}
	name := filepath.Join(locks, id+".lock")
	lock, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := tryLock(lock); err != nil {
		return fmt.Errorf("%s: %w", id, ErrLocked)
	}
	mine, err := lock.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(name); err != nil || !os.SameFile(mine, there) {
		return fmt.Errorf("%s: %w", id, ErrLocked)
	}
	defer os.Remove(name)
	return do()
}
