package log

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
)

func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

// sampleRecords returns the records of a session in which a conversation is created, a message is written in pieces, and
// the second answer is not there yet.
func sampleRecords(t testing.TB) [][]session.Event {
	t.Helper()
	var records [][]session.Event
	var s session.State
	at := epoch
	step := func(in session.Input) {
		t.Helper()
		next, events, err := session.Step(s, at, in)
		if err != nil {
			t.Fatal(err)
		}
		s, at = next, at.Add(time.Second)
		records = append(records, events)
	}
	message := "hello"
	step(session.Start{Session: "s", Root: id(0), Context: session.Context{Title: "a title", Capabilities: session.Capabilities{Internal: session.InternalTools{session.ConvTools: true}}}})
	step(session.Submit{Conversation: id(0), Input: []session.Part{{Text: "go"}}})
	step(session.Response{Task: 1, Items: []session.Item{{
		Item:    model.Item{Kind: session.ToolCall, CallID: "k", Name: session.ConvCreate},
		Request: session.Request{Create: &session.Create{ConversationID: id(1), UserInstruction: &message}},
	}}})
	step(session.Delta{Task: 2, Text: "hel"})
	step(session.Delta{Task: 2, Text: "lo"})
	step(session.Response{Task: 2, Items: []session.Item{{Item: model.Text(session.AgentMessage, message)}}})
	step(session.Delta{Task: 3, Text: "well"})
	return records
}

// sample writes the log of session s with sampleRecords, and returns its directory and what is in the file.
func sample(t testing.TB) (dir string, text []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "sessions")
	records := sampleRecords(t)
	log, err := Create(dir, records[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records[1:] {
		if err := log.Append(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(filepath.Join(dir, "s.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, text
}

// states returns the state after each record, and where each line of a log begins.
func states(t testing.TB, text []byte) (after []session.State, offsets []int) {
	t.Helper()
	for i := range sampleRecords(t) {
		s, err := session.State{}.Apply(slices.Concat(sampleRecords(t)[:i+1]...))
		if err != nil {
			t.Fatal(err)
		}
		after = append(after, s)
	}
	offset := 0
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		offsets = append(offsets, offset)
		offset += len(line)
	}
	return after, offsets
}

func TestLog(t *testing.T) {
	t.Parallel()
	dir, text := sample(t)
	records := sampleRecords(t)
	var events []session.Event
	for e, err := range Events(dir, "s") {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if diff := cmp.Diff(slices.Concat(records...), events); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(dir, "s.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if folder, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o077 != 0 || folder.Mode().Perm()&0o077 != 0 {
		if os.PathSeparator == '/' {
			t.Errorf("others may read: %v, %v, %v", info.Mode(), folder.Mode(), err)
		}
	}
	log, err := Open(dir, "s")
	if err != nil {
		t.Fatal(err)
	}
	after, _ := states(t, text)
	if !reflect.DeepEqual(log.State, after[len(after)-1]) || log.Torn != nil {
		t.Errorf("opened: torn %+v", log.Torn)
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	if err := log.Append(records[1]); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("appended to what is closed: %v", err)
	}
	if _, err := Create(dir, records[0]); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created again: %v", err)
	}
}

// One process writes; others may read meanwhile.
func TestOneOwner(t *testing.T) {
	t.Parallel()
	dir, _ := sample(t)
	log, err := Open(dir, "s")
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := Open(dir, "s"); !errors.As(err, &busy) || busy.Session != "s" {
		t.Errorf("opened twice: %v", err)
	}
	if _, _, err := Load(dir, "s"); err != nil {
		t.Errorf("reading: %v", err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log, err = Open(dir, "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	dir, _ := sample(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "outside.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "other", "../outside", "a/b", ".", "..", ".hidden", "s.jsonl", string(filepath.Separator) + "s"} {
		var missing *NotFoundError
		if _, err := Open(dir, id); !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := Create(dir, []session.Event{{Seq: 1, Session: "../x", Kind: session.SessionStarted}}); err == nil {
		t.Error("a log was made outside of the directory")
	}
}

// A log that ends anywhere within a record is what it was before that record.
func TestTornAnywhere(t *testing.T) {
	t.Parallel()
	_, text := sample(t)
	after, offsets := states(t, text)
	for size := range text {
		s, torn, err := load("a log", bytes.NewReader(text[:size]))
		if size < offsets[2] { // within the first line or the first record, which are made together with the file
			if damage := (*DamagedError)(nil); !errors.As(err, &damage) {
				t.Fatalf("%d bytes: %v", size, err)
			}
			continue
		}
		whole := 1
		for offsets[whole+1] <= size {
			whole++
		}
		if err != nil || !reflect.DeepEqual(s, after[whole-2]) {
			t.Fatalf("%d bytes: another state, %v", size, err)
		}
		if (torn != nil) != (offsets[whole] != size) || torn != nil && (torn.Offset != int64(offsets[whole]) || torn.Bytes != int64(size-offsets[whole])) {
			t.Fatalf("%d bytes: torn %+v", size, torn)
		}
	}
}

// What a crash has left is cut off when the log is opened, and reported, and the log goes on from there.
func TestRepair(t *testing.T) {
	t.Parallel()
	dir, text := sample(t)
	records := sampleRecords(t)
	after, offsets := states(t, text)
	path := filepath.Join(dir, "s.jsonl")
	for line := 2; line <= len(records); line++ {
		for _, size := range []int{offsets[line] + 1, offsets[line+1] - 1} {
			if err := os.WriteFile(path, text[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			log, err := Open(dir, "s")
			if err != nil {
				t.Fatal(err)
			}
			if torn := log.Torn; torn == nil || torn.Offset != int64(offsets[line]) || !reflect.DeepEqual(log.State, after[line-2]) {
				t.Fatalf("%d bytes: torn %+v", size, torn)
			}
			if err := errors.Join(log.Append(records[line-1]), log.Close()); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, text[:offsets[line+1]]) {
				t.Fatalf("%d bytes: the log has %d bytes now, %v", size, len(got), err)
			}
		}
	}
}

// A bit that is flipped anywhere is found. Where what follows proves that the line had been synced, nothing is lost and
// the error has the place; at the end it is as a crash would have left it.
func TestFlippedAnywhere(t *testing.T) {
	t.Parallel()
	_, text := sample(t)
	after, offsets := states(t, text)
	// The last line that is synced is that of the record before the last, of which it is proof.
	last := len(sampleRecords(t)) - 1
	for i := range text {
		flipped := bytes.Clone(text)
		flipped[i] ^= 1 << (i % 8)
		line := 0
		for offsets[line+1] <= i {
			line++
		}
		s, torn, err := load("a log", bytes.NewReader(flipped))
		if err == nil && torn == nil && reflect.DeepEqual(s, after[len(after)-1]) {
			continue // a letter of a key in upper case
		}
		if text[i] == '\n' && line == last-1 && torn != nil {
			continue // the line before is gone with the one that was synced: both look like what a crash has left
		}
		var damage *DamagedError
		switch {
		case line == 0:
			if !errors.As(err, &damage) && !strings.Contains(err.Error(), "of the session format") {
				t.Fatalf("byte %d, in the first line: %v", i, err)
			}
		case line <= last-1:
			if !errors.As(err, &damage) || damage.Offset != int64(offsets[line]) {
				t.Fatalf("byte %d, in line %d at %d: %v", i, line+1, offsets[line], err)
			}
		default:
			if err != nil || torn == nil || torn.Offset != int64(offsets[line]) || !reflect.DeepEqual(s, after[line-2]) {
				t.Fatalf("byte %d, in line %d: %v, torn %+v", i, line+1, err, torn)
			}
		}
	}
}

// Pieces of messages that were written before the last sync need not all be there after a crash, in any order.
func TestPiecesLost(t *testing.T) {
	t.Parallel()
	_, text := sample(t)
	after, offsets := states(t, text)
	// Lines 5 and 6 are pieces, line 7 is the response; power was lost while that was synced.
	broken := bytes.Clone(text[:offsets[7]])
	clear(broken[offsets[4]:offsets[5]])
	s, torn, err := load("a log", bytes.NewReader(broken))
	if err != nil || torn == nil || torn.Offset != int64(offsets[4]) || !reflect.DeepEqual(s, after[2]) {
		t.Errorf("%v, torn %+v", err, torn)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	dir, text := sample(t)
	path := filepath.Join(dir, "s.jsonl")
	newer := bytes.Replace(text, []byte(`"version":2`), []byte(`"version":3,"of":"tomorrow"`), 1)
	if err := os.WriteFile(path, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "s"); err == nil || !strings.Contains(err.Error(), "version 3 of the session format") {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, newer) {
		t.Errorf("it was changed: %v", err)
	}
	for _, first := range []string{"", "\n", "{}\n", `{"format":"other","version":1}` + "\n", `{"format":"convtools-session","version":0}` + "\n", "\x00\x00\x00"} {
		var damage *DamagedError
		if _, _, err := load("a log", strings.NewReader(first)); !errors.As(err, &damage) {
			t.Errorf("%q: %v", first, err)
		}
	}
}

// Records that are whole but do not follow from one another are not taken for a session.
func TestNotOneSession(t *testing.T) {
	t.Parallel()
	dir, text := sample(t)
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[3], lines[2] = lines[2], lines[3]
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), slices.Concat(lines...), 0o600); err != nil {
		t.Fatal(err)
	}
	var damage *DamagedError
	if _, err := Open(dir, "s"); !errors.As(err, &damage) || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

// failing is a file that fails.
type failing struct {
	File
	write, sync error
}

func (f failing) Write(p []byte) (int, error) {
	if f.write != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, f.write
	}
	return f.File.Write(p)
}

func (f failing) Sync() error { return f.sync }

// After an error nothing is written: a full disk leaves a log that is as it was.
func TestAppendFails(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left on device")
	for _, file := range []failing{{write: full}, {sync: full}} {
		dir := t.TempDir()
		records := sampleRecords(t)
		log, err := Create(dir, records[0])
		if err != nil {
			t.Fatal(err)
		}
		file.File = log.File
		log.File = file
		for range 2 {
			if err := log.Append(records[1]); !errors.Is(err, full) {
				t.Errorf("%v", err)
			}
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		s, err := os.ReadFile(filepath.Join(dir, "s.jsonl"))
		if n := bytes.Count(s, []byte("crc32c")); err != nil || n != 2 {
			t.Errorf("%d records begin: %v", n, err)
		}
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	records := sampleRecords(t)
	log, err := Create(dir, records[0])
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	var record []session.Event
	for e, err := range Follow(t.Context(), dir, "s") {
		if err != nil {
			t.Fatal(err)
		}
		if record = append(record, e); len(record) < len(records[n]) {
			continue
		}
		if diff := cmp.Diff(records[n], record); diff != "" {
			t.Fatalf("record %d (-want +got):\n%s", n, diff)
		}
		record = nil
		n++
		switch n {
		case len(records): // its process ends
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		case 2: // a record is half written, cut off by the next process, and written
			line, err := recordOf(records[2])
			if err != nil {
				t.Fatal(err)
			}
			_, err = log.File.Write(line[:len(line)/2])
			if err := errors.Join(err, log.Close()); err != nil {
				t.Fatal(err)
			}
			if log, err = Open(dir, "s"); err != nil || log.Torn == nil {
				t.Fatal(err, log.Torn)
			}
			fallthrough
		default:
			if err := log.Append(records[n]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n != len(records) {
		t.Errorf("%d records", n)
	}
	// One that another process has open goes on, until nobody wants it any more.
	if log, err = Open(dir, "s"); err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	ctx, cancel := context.WithCancel(t.Context())
	for _, err := range Follow(ctx, dir, "s") {
		if err != nil {
			t.Fatal(err)
		}
		if n--; n == 0 {
			cancel()
		}
	}
	cancel()
	// A log that is removed has no more to follow.
	if runtime.GOOS != "windows" { // which does not remove what is open
		for range Follow(t.Context(), dir, "s") {
			_ = os.Remove(filepath.Join(dir, "s.jsonl"))
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	dir, text := sample(t)
	if all, err := List(filepath.Join(dir, "none")); err != nil || all != nil {
		t.Errorf("no directory: %v, %v", all, err)
	}
	for name, age := range map[string]time.Duration{"s": 1, "older": 2, "b": 3, "a": 3} {
		path := filepath.Join(dir, name+".jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, epoch.Add(-age*time.Hour), epoch.Add(-age*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []string{".convtools-0123456789abcdef", ".convtools-x.jsonl", "notes.txt", ".jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, info := range all {
		got = append(got, info.Session)
		if info.Bytes != int64(len(text)) {
			t.Errorf("%+v", info)
		}
	}
	if diff := cmp.Diff([]string{"s", "older", "a", "b"}, got); diff != "" {
		t.Error(diff)
	}
	summary, err := Summarize(dir, "s")
	if err != nil || summary.Context.Title != "a title" || !summary.Started.Equal(epoch) || summary.Input[0].Text != "go" {
		t.Errorf("%+v, %v", summary, err)
	}
}

func TestGC(t *testing.T) {
	t.Parallel()
	dir, text := sample(t)
	first := text[:bytes.Index(text, []byte(`{"crc32c"`))]
	write := func(name string, text []byte, at time.Time) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "s.jsonl")); err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	old, recent := epoch.Add(-time.Hour), epoch.Add(time.Hour)
	finished := slices.Concat(first, lines[1])
	write("finished.jsonl", finished, old)
	write("recent.jsonl", finished, recent)
	write("unfinished.jsonl", text, old)
	write("damaged.jsonl", slices.Concat(first, lines[2], lines[1], lines[2], lines[3], lines[4]), old)
	write("busy.jsonl", finished, old)
	write(".convtools-0123456789abcdef", nil, old)
	write(".convtools-recent", nil, recent)
	log, err := Open(dir, "busy")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()

	for _, dry := range []bool{true, false} {
		removed, kept, err := GC(dir, epoch, dry)
		if err != nil {
			t.Fatal(err)
		}
		var busy *BusyError
		var damaged *DamagedError
		if len(removed) != 1 || removed[0].Session != "finished" || len(kept) != 3 {
			t.Fatalf("%+v, kept %+v", removed, kept)
		}
		if !errors.As(kept[0], &busy) || !errors.As(kept[1], &damaged) || kept[2].Error() != "session unfinished has not finished" {
			t.Errorf("kept %+v", kept)
		}
		want := []string{".convtools-0123456789abcdef", ".convtools-recent", "busy.jsonl", "damaged.jsonl", "recent.jsonl", "unfinished.jsonl"}
		if dry {
			want = []string{".convtools-0123456789abcdef", ".convtools-recent", "busy.jsonl", "damaged.jsonl", "finished.jsonl", "recent.jsonl", "unfinished.jsonl"}
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("dry %v: left (-want +got):\n%s", dry, diff)
		}
	}
}

// FuzzLog reads anything: it ends, with a state of whole records or an error of a known type.
func FuzzLog(f *testing.F) {
	_, text := sample(f)
	f.Add(text)
	f.Add(text[:len(text)-3])
	f.Add(bytes.Replace(text, []byte("hello"), []byte("hallo"), 1))
	golden, err := os.ReadFile(filepath.Join("testdata", "v2.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Fuzz(func(t *testing.T, text []byte) {
		s, torn, err := load("a log", bytes.NewReader(text))
		var damage *DamagedError
		if err != nil {
			if !errors.As(err, &damage) && !strings.Contains(err.Error(), "of the session format") {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		end := int64(len(text))
		if torn != nil {
			if torn.Offset+torn.Bytes != end || torn.Bytes == 0 {
				t.Fatalf("torn %+v of %d bytes", torn, end)
			}
			end = torn.Offset
		}
		again, torn, err := load("a log", bytes.NewReader(text[:end]))
		if err != nil || torn != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("cut off: torn %+v, %v", torn, err)
		}
	})
}

// load returns the state that a log leads to.
func load(path string, in io.Reader) (session.State, *Torn, error) {
	r, err := newReader(path, in)
	if err != nil {
		return session.State{}, nil, err
	}
	return r.replay()
}
