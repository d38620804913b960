package jp

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/transcript"
)

// fixture is a workspace with both stores in a temporary directory.
type fixture struct {
	t    *testing.T
	base string
	root string // project
	data string // user data directory
}

const (
	testID    = "abc12"
	testTitle = `{"title":"A title","last_activated_at":"2026-05-29 20:04:40.293992"}`
)

// newFixture makes a project with the id testID and its user's store.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	base := t.TempDir()
	f := &fixture{t: t, base: base, root: filepath.Join(base, "project"), data: filepath.Join(base, "data")}
	f.mkdir("project/.jp/conversations")
	f.mkdir("data/workspace/project-" + testID + "/conversations")
	f.write("project/.jp/.id", "DO NOT EDIT.\n"+testID+"\n")
	f.record("project-"+testID, "project")
	return f
}

func (f *fixture) getenv(name string) string {
	switch name {
	case "JP_USER_DATA_DIR":
		return f.data
	case "XDG_CONFIG_HOME", "AppData":
		return filepath.Join(f.base, "config")
	}
	return ""
}

func (f *fixture) open() *Workspace {
	f.t.Helper()
	w, err := Open(Options{Dir: f.root, Getenv: f.getenv})
	if err != nil {
		f.t.Fatal(err)
	}
	return w
}

func (f *fixture) mkdir(name string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Join(f.base, name), 0o755); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) write(name, content string) {
	f.t.Helper()
	f.mkdir(filepath.Dir(name))
	if err := os.WriteFile(filepath.Join(f.base, name), []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// record writes JP's record that a user's store is of the workspace in a directory.
func (f *fixture) record(silo, dir string) {
	f.t.Helper()
	f.mkdir("data/workspace/" + silo)
	if err := jptest.Record(filepath.Join(f.data, "workspace", silo), filepath.Join(f.base, dir)); err != nil {
		f.t.Fatal(err)
	}
	if roots := "data/workspace/" + silo + "/roots"; exists(filepath.Join(f.base, roots)) {
		f.age(roots, 0)
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// age sets the modification time of a file to some minutes after a fixed time.
func (f *fixture) age(name string, minutes int) {
	f.t.Helper()
	at := time.Date(2026, 1, 1, 0, minutes, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(f.base, name), at, at); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) rename(from, to string) {
	f.t.Helper()
	f.mkdir(filepath.Dir(to))
	if err := os.Rename(filepath.Join(f.base, from), filepath.Join(f.base, to)); err != nil {
		f.t.Fatal(err)
	}
}

const (
	inProject = "project/.jp/conversations/"
	inUser    = "data/workspace/project-" + testID + "/conversations/"
)

// conversation writes metadata with a title, and one event with the same text.
func (f *fixture) conversation(dir, title string) {
	f.t.Helper()
	f.write(dir+"/metadata.json", fmt.Sprintf(`{"title":%q,"last_activated_at":"2026-05-29 20:04:40.0"}`, title))
	f.write(dir+"/events.json", streamWith(title))
}

func streamWith(text string) string {
	return fmt.Sprintf(`[{"timestamp":"2026-05-29 20:04:40.0","type":"chat_request","content":%q}]`, text)
}

// list returns the conversations of a set as lines of number, title and locality.
func (f *fixture) list(set store.Set) (lines []string, problems []store.Problem) {
	f.t.Helper()
	conversations, problems, err := f.open().conversations(f.t.Context(), set)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, c := range conversations {
		line := fmt.Sprintf("%s %s %s", strings.TrimPrefix(string(c.ID), idPrefix), c.Title, c.Locality)
		if c.Archived {
			line += " archived"
		}
		lines = append(lines, line)
	}
	return lines, problems
}

// conversations lists conversations. Problems of stores come first.
func (w *Workspace) conversations(ctx context.Context, set store.Set) ([]store.Conversation, []store.Problem, error) {
	l, err := w.List(ctx, store.Scope{Set: set})
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	return l.Conversations, l.Problems, nil
}

// located is a conversation with its copies.
type located struct {
	store.Conversation
	w      *Workspace
	copies []place
}

// find returns a conversation, live or archived.
func (s *session) find(ctx context.Context, id transcript.ID) (store.Conversation, error) {
	found, _, err := s.list(ctx, store.Scope{IDs: []transcript.ID{id}})
	if err == nil && len(found) == 0 {
		err = s.notFound(id)
	}
	if err != nil {
		return store.Conversation{}, err
	}
	return found[0], nil
}

// find returns a conversation by its number.
func (w *Workspace) find(ctx context.Context, n number) (*located, error) {
	s, _, err := w.open()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	c, err := s.find(ctx, n.id())
	if err != nil {
		return nil, err
	}
	return &located{c, w, c.Record.(*record).copies}, nil
}

// metadataErr returns the reason for which the metadata cannot be read, or nil.
func (c *located) metadataErr() error {
	if bad := unusable(c.Problems); bad != nil {
		return bad.Err
	}
	return nil
}

// readEvents returns the content of the events.json that counts.
func (c *located) readEvents(ctx context.Context) (string, error) {
	s, _, err := c.w.open()
	if err != nil {
		return "", err
	}
	defer s.Close()
	r := record{s: s, copies: c.copies}
	data, err := r.data(ctx)
	return string(data), err
}

func (f *fixture) find(n number) *located {
	f.t.Helper()
	c, err := f.open().find(f.t.Context(), n)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func (f *fixture) events(c *located) string {
	f.t.Helper()
	data, err := c.readEvents(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return data
}

// snapshot returns a checksum of all names, modes, times and contents in the fixture.
func (f *fixture) snapshot() string {
	f.t.Helper()
	hash := sha256.New()
	err := filepath.WalkDir(f.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(hash, path, info.Mode(), info.ModTime().UnixNano(), info.Size())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			hash.Write(content)
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}
