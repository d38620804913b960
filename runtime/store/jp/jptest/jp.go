package jptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// JP changes the conversations of a workspace as JP does (4c1c39f): it has read a
// conversation before it locks it, writes all files of it as it has read them, and gives a new
// one the tenth of a second that it is, whether one has it or not. It has the locks of Unix.
type JP struct {
	Project, User string // the .jp directory, and the user's store
	Now           func() time.Time
	// Read is called when a conversation has been read, and is not locked yet; nil for nothing
	// to be done.
	Read func()
}

// read is a conversation as JP has read it: of metadata.json only the keys that it knows.
type read struct {
	metadata struct {
		Title           string            `json:"title,omitempty"`
		LastActivatedAt string            `json:"last_activated_at"`
		PinnedAt        string            `json:"pinned_at,omitempty"`
		ArchivedAt      string            `json:"archived_at,omitempty"`
		ExpiresAt       string            `json:"expires_at,omitempty"`
		Labels          map[string]string `json:"labels,omitempty"`
	}
	files map[string][]byte
}

// Fork makes a conversation of another one, and returns its id.
func (j JP) Fork(id string) (string, error) {
	c, err := j.read(id)
	if err != nil {
		return "", err
	}
	c.metadata.LastActivatedAt, c.metadata.ExpiresAt = Timestamp(j.Now()), ""
	fork := "jp-c" + strconv.FormatInt(j.Now().UnixMilli()/100, 10)
	return fork, j.locked(fork, func() error { return j.write(fork, c) })
}

// Label gives a conversation a label.
func (j JP) Label(id, key, value string) error {
	c, err := j.read(id)
	if err != nil {
		return err
	}
	if c.metadata.Labels == nil {
		c.metadata.Labels = map[string]string{}
	}
	c.metadata.Labels[key] = value
	return j.locked(id, func() error { return j.write(id, c) })
}

// Remove removes a conversation.
func (j JP) Remove(id string) error {
	return j.locked(id, func() error {
		var errs []error
		for _, dir := range j.dirs(id) {
			errs = append(errs, os.RemoveAll(dir))
		}
		return errors.Join(errs...)
	})
}

// dirs returns the directory of a conversation in either store, whether it is there or not.
func (j JP) dirs(id string) []string {
	var dirs []string
	for _, root := range []string{j.User, j.Project} {
		dir := filepath.Join(root, "conversations", strings.TrimPrefix(id, "jp-c"))
		if found, _ := filepath.Glob(dir + "*"); len(found) > 0 {
			dir = found[0]
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// read reads a conversation: each file from the copy that counts, which is the newer one.
func (j JP) read(id string) (c read, err error) {
	c.files = map[string][]byte{}
	newest := map[string]time.Time{}
	for _, dir := range j.dirs(id) {
		for _, name := range []string{MetadataFile, EventsFile, BaseConfigFile} {
			file := filepath.Join(dir, name)
			info, err := os.Stat(file)
			if err != nil || !info.ModTime().After(newest[name]) {
				continue
			}
			newest[name] = info.ModTime()
			if c.files[name], err = os.ReadFile(file); err != nil {
				return c, err
			}
		}
	}
	if err := json.Unmarshal(c.files[MetadataFile], &c.metadata); err != nil {
		return c, fmt.Errorf("%s: not found: %w", id, err)
	}
	if j.Read != nil {
		j.Read()
	}
	return c, nil
}

// write writes a conversation in both stores, in the place of one that has its id.
func (j JP) write(id string, c read) error {
	c.files[MetadataFile] = append(marshal(c.metadata, ""), '\n')
	for _, dir := range j.dirs(id) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for name, data := range c.files {
			temp := filepath.Join(dir, name+".tmp")
			if err := os.WriteFile(temp, data, 0o644); err != nil {
				return err
			}
			if err := os.Rename(temp, filepath.Join(dir, name)); err != nil {
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
		return fmt.Errorf("%s is locked: %w", id, err) // JP does not wait
	}
	mine, err := lock.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(name); err != nil || !os.SameFile(mine, there) {
		return fmt.Errorf("%s is locked", id)
	}
	defer os.Remove(name)
	return do()
}
