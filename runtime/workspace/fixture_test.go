package workspace

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// newFixture makes a project with the id testID and, in the user data directory,
// its store.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	base := t.TempDir()
	f := &fixture{t: t, base: base, root: filepath.Join(base, "project"), data: filepath.Join(base, "data")}
	f.mkdir("project/.jp/conversations")
	f.mkdir("data/workspace/project-" + testID + "/conversations")
	f.write("project/.jp/.id", "DO NOT EDIT.\n"+testID+"\n")
	return f
}

func (f *fixture) getenv(name string) string {
	if name == "JP_USER_DATA_DIR" {
		return f.data
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

// conversation writes metadata with a title, and events with one event of that
// type name.
func (f *fixture) conversation(dir, title string) {
	f.t.Helper()
	f.write(dir+"/metadata.json", fmt.Sprintf(`{"title":%q,"last_activated_at":"2026-05-29 20:04:40.0"}`, title))
	f.write(dir+"/events.json", events(title))
}

func events(text string) string {
	return fmt.Sprintf(`[{"timestamp":"2026-05-29 20:04:40.0","type":"chat_request","content":%q}]`, text)
}

// list returns what Conversations says, as "id title locality" lines.
func (f *fixture) list(set Set) (lines []string, skipped []Skipped) {
	f.t.Helper()
	conversations, skipped, err := f.open().Conversations(f.t.Context(), set)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, c := range conversations {
		line := fmt.Sprintf("%d %s %s", c.ID, c.Metadata.Title, c.Locality)
		if c.Archived {
			line += " archived"
		}
		lines = append(lines, line)
	}
	return lines, skipped
}

func (f *fixture) find(id transcript.ID) *Conversation {
	f.t.Helper()
	c, err := f.open().Find(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func (f *fixture) events(c *Conversation) string {
	f.t.Helper()
	data, err := c.ReadEvents(f.t.Context(), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

// snapshot describes everything under the fixture: names, modes, times, content.
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
