package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/transcript"
)

// writeBound is what a write may take beside its syncs: one for each file and each
// directory that it changes.
const writeBound = 2 * time.Millisecond

// writes measures changes of a conversation, in turn with the bare steps without
// which they would not last: writing a file, its sync, its rename and the sync of
// the directory.
func (b *builds) writes(ctx context.Context, t *table.Table) (err error) {
	dir := filepath.Join(b.dir, "written")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	const id = "17600000000"
	ws := jptest.New(dir, "bench")
	ws.Conversation(id, "written").Title("Written").TurnStart().User("x")
	if err := ws.Write(); err != nil {
		return err
	}
	w, err := jp.Open(jp.Options{Dir: dir, Getenv: func(name string) string {
		if name == "JP_USER_DATA_DIR" {
			return b.dataDir
		}
		return ""
	}})
	if err != nil {
		return err
	}
	writer := w.Writer(jp.WriterOptions{})
	bare := filepath.Join(dir, "bare")
	if err := os.Mkdir(bare, 0o755); err != nil {
		return err
	}
	hidden, n := false, 0
	for _, write := range []struct {
		name        string
		ours        func() error
		renamed     bool // the directory too
		description string
	}{
		{"hiding a conversation", func() error {
			hidden = !hidden
			_, err := writer.Edit(ctx, "jp-c"+id, func(transcript.Conversation) jp.Change { return jp.Change{Hidden: &hidden} })
			return err
		}, false, "1 file and 1 directory"},
		{"giving it a title", func() error {
			n++
			title := fmt.Sprintf("Title %d", n)
			_, err := writer.Edit(ctx, "jp-c"+id, func(transcript.Conversation) jp.Change { return jp.Change{Title: &title} })
			return err
		}, true, "1 file and 2 directories"},
	} {
		var ours, theirs measured
		for range b.plan.writes {
			for into, step := range map[*measured]func() error{
				&ours:   write.ours,
				&theirs: func() error { return bareWrite(bare, write.renamed) },
			} {
				start := time.Now()
				if err := step(); err != nil {
					return fmt.Errorf("%s: %w", write.name, err)
				}
				into.times = append(into.times, time.Since(start))
			}
		}
		slices.Sort(ours.times)
		slices.Sort(theirs.times)
		row, _ := compare(write.name, "syncing "+write.description, ours, theirs)
		row.Bound = "at most " + milliseconds(writeBound) + " on top"
		row.Missed = ours.min()-theirs.min() > writeBound
		row.Detail += fmt.Sprintf("; on top %s, of the medians %s", milliseconds(ours.min()-theirs.min()), milliseconds(ours.median()-theirs.median()))
		t.Add(row)
	}
	return nil
}

// bareWrite replaces a file so that it lasts, and makes the name of its directory
// last too where that is asked for.
func bareWrite(dir string, renamed bool) error {
	staged := filepath.Join(dir, "staged")
	f, err := os.Create(staged)
	if err != nil {
		return err
	}
	_, err = f.WriteString("{\n  \"title\": \"Written\",\n  \"last_activated_at\": \"2026-01-01 00:00:00.0\"\n}\n")
	if err := errors.Join(err, f.Sync(), f.Close(), os.Rename(staged, filepath.Join(dir, "file"))); err != nil {
		return err
	}
	if renamed {
		if err := errors.Join(os.Rename(dir, dir+"-renamed"), os.Rename(dir+"-renamed", dir), syncDir(filepath.Dir(dir))); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// syncDir does nothing on Windows, where directories cannot be synced.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
