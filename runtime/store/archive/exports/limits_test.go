package exports_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/archive/exports"
)

// A conversation that is too large to be in memory is not read.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	const maxBytes = 64 << 20
	summaryOf := func(path string) string { return summary(newHome(t).add(path, exports.Options{})) }
	const one = "new 1, updated 0, unchanged 0, skipped 0, failed 1\nx.json:0: "
	good := conversation("a", "fine").String()
	large := write(t, filepath.Join(t.TempDir(), "x.json"), `[`+good+`,{"id":"`+strings.Repeat("0", maxBytes+1<<20)+`","mapping":{}}]`)
	if got, want := summaryOf(large), one+"it has more than 64 MB"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// Where that is all there is, nothing was imported.
	path := write(t, filepath.Join(t.TempDir(), "x.json"), `{"mapping":{}}`)
	if _, err := newHome(t).add(path, exports.Options{}); err == nil || !strings.Contains(err.Error(), "x.json: nothing of it can be imported") {
		t.Error(err)
	}
}

// A message that stands in two conversations, as in one that was continued elsewhere, is a
// message of both.
func TestSharedMessages(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := write(t, filepath.Join(t.TempDir(), "x.json"), array(conversation("a", "the same"), conversation("b", "the same")))
	want := "archive-chatgpt-a \"About a\"\n1 user: the same\narchive-chatgpt-b \"About b\"\n1 user: the same\n"
	for _, reported := range []string{"new 2, updated 0, unchanged 0, skipped 0, failed 0", "new 0, updated 0, unchanged 2, skipped 0, failed 0"} {
		if got := summary(h.add(path, exports.Options{})); got != reported {
			t.Errorf("%s, want %s", got, reported)
		}
		if got := h.all(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// sparse writes a zip whose one file is stored, begins with some text, and has zeros up to
// nearly 4 GB, which take no room on the disk.
func sparse(t *testing.T, name, begin string) string {
	t.Helper()
	const size = 1<<32 - 1<<16
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Store, CompressedSize64: uint64(len(begin)), UncompressedSize64: uint64(len(begin))})
	if err == nil {
		_, err = w.Write([]byte(begin))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	directory := bytes.Index(b.Bytes(), []byte("PK\x01\x02"))
	head, tail := b.Bytes()[:directory], b.Bytes()[directory:]
	grown := uint32(size - len(begin))
	for _, at := range []int{20, 24} { // the sizes
		binary.LittleEndian.PutUint32(tail[at:], size)
	}
	end := bytes.Index(tail, []byte("PK\x05\x06"))
	binary.LittleEndian.PutUint32(tail[end+16:], uint32(directory)+grown)
	path := filepath.Join(t.TempDir(), "x.zip")
	f, err := os.Create(path)
	if err == nil {
		_, err = f.Write(head)
	}
	if err == nil {
		_, err = f.WriteAt(tail, int64(directory)+int64(grown))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file of 4 GB is read as far as it is JSON, and an import of it can be interrupted.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	good := conversation("a", "fine").String()
	got := summary(newHome(t).add(sparse(t, "conversations.json", "["+good+","), exports.Options{}))
	if want := "new 1, updated 0, unchanged 0, skipped 0, failed 1\nconversations.json:0: it is not JSON from here on"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	w, err := archive.Create(t.Context(), t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reads := 0
	report, err := exports.Import(ctx, write(t, filepath.Join(t.TempDir(), "conversations.json"), "["+good+`,{"`+strings.Repeat("x", 4<<20)), w, exports.Options{Progress: func(exports.Progress) {
		if reads++; reads == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || report.New != 1 || reads != 3 {
		t.Errorf("%d reads, %s", reads, summary(report, err))
	}
}
