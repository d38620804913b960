package jp

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// countingDisk counts what waits for the disk, and notes what has to.
type countingDisk struct {
	quickDisk
	syncs   map[string]int  // of files, which are synced as they are made, and of directories
	changed map[string]bool // directories that got or lost an entry since they were synced
}

func (d *countingDisk) change(root *os.Root, names ...string) {
	for _, name := range names {
		d.changed[filepath.Join(root.Name(), path.Dir(name))] = true
	}
}

func (d *countingDisk) mkdir(root *os.Root, name string) error {
	_, there := root.Lstat(name)
	err := d.quickDisk.mkdir(root, name)
	if there != nil && err == nil && name != conversationsDir {
		d.change(root, name)
	}
	return err
}

func (d *countingDisk) create(root *os.Root, name string, data []byte) error {
	d.syncs[filepath.Join(root.Name(), name)]++
	d.change(root, name)
	return d.quickDisk.create(root, name, data)
}

func (d *countingDisk) rename(root *os.Root, from, to string) error {
	info, err := root.Lstat(from)
	if err == nil && info.IsDir() {
		delete(d.changed, filepath.Join(root.Name(), from)) // it is complete, or was made last
	}
	d.change(root, from, to)
	return d.quickDisk.rename(root, from, to)
}

func (d *countingDisk) syncDir(root *os.Root, name string) error {
	dir := filepath.Join(root.Name(), name)
	d.syncs[dir]++
	delete(d.changed, dir)
	return d.quickDisk.syncDir(root, name)
}

// TestOneSyncEach has each change sync each file that it writes, and each directory that
// it changes, once.
func TestOneSyncEach(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	all := []transcript.ID{projected, userOnly, external, archived}
	event := NewEvent{At: time.Date(2026, 6, 1, 12, 0, 1, 0, time.UTC), Kind: transcript.KindUser, Text: "more"}
	steps := []struct {
		name string
		do   func(context.Context, *Writer, transcript.ID) error
	}{
		{"hide", func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.Edit(ctx, id, always(Change{Hidden: to(true), Pinned: to(true)}))
			return err
		}},
		{"title", func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.Edit(ctx, id, always(Change{Title: to("New " + string(id))}))
			return err
		}},
		{"append", func(ctx context.Context, w *Writer, id transcript.ID) error { return w.Append(ctx, id, event) }},
		{"fork", func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.Fork(ctx, id, ForkOptions{})
			return err
		}},
		{"archive", func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.Archive(ctx, id)
			return err
		}},
		{"unarchive", func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, err := w.Unarchive(ctx, id)
			return err
		}},
		{"remove", func(ctx context.Context, w *Writer, id transcript.ID) error { return w.Remove(ctx, id) }},
		{"restore", func(ctx context.Context, w *Writer, id transcript.ID) error { return w.Restore(ctx, id) }},
		{"local", func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, _, err := w.SetLocal(ctx, id, func(bool) bool { return true })
			return err
		}},
		{"not local", func(ctx context.Context, w *Writer, id transcript.ID) error {
			_, _, err := w.SetLocal(ctx, id, func(bool) bool { return false })
			return err
		}},
		{"remove all", func(ctx context.Context, w *Writer, id transcript.ID) error {
			if id != archived {
				return nil
			}
			return w.Remove(ctx, all...)
		}},
	}
	for _, step := range steps {
		for _, id := range all {
			w := f.writer()
			disk := &countingDisk{syncs: map[string]int{}, changed: map[string]bool{}}
			w.disk = disk
			if err := step.do(t.Context(), w, id); err != nil {
				t.Fatalf("%s of %s: %v", step.name, id, err)
			}
			idle := step.name == "archive" && id == archived || step.name == "local" && id == userOnly || step.name == "remove all" && id != archived
			if idle != (len(disk.syncs) == 0) {
				t.Errorf("%s of %s: %d syncs", step.name, id, len(disk.syncs))
			}
			for _, name := range slices.Sorted(maps.Keys(disk.syncs)) {
				if n := disk.syncs[name]; n > 1 {
					t.Errorf("%s of %s: %d syncs of %s", step.name, id, n, name)
				}
			}
			for _, dir := range slices.Sorted(maps.Keys(disk.changed)) {
				if _, err := os.Lstat(dir); err == nil {
					t.Errorf("%s of %s: %s was changed, and not synced", step.name, id, dir)
				}
			}
		}
	}
}
