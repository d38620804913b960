package conversations_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/transcript"
)

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// open returns a library of the workspace that build describes.
func open(t *testing.T, build func(w *jptest.Workspace, dataDir string)) *conversations.Library {
	t.Helper()
	dir := t.TempDir()
	w := jptest.New(filepath.Join(dir, "project"), "tests")
	build(w, filepath.Join(dir, "data"))
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	l, err := conversations.Open(conversations.Options{Dir: filepath.Join(dir, "project"), Now: now, Getenv: func(name string) string {
		if name == "JP_USER_DATA_DIR" {
			return filepath.Join(dir, "data")
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// several is a workspace in which every conversation shows one thing.
func several(t *testing.T) *conversations.Library {
	at := func(day int) time.Time { return time.Date(2026, 2, day, 8, 0, 0, 0, time.UTC) }
	return open(t, func(w *jptest.Workspace, dataDir string) {
		w.Conversation("17600000000", "a").Title("Retry policy").Label("area", "feed").Label("decision", "").LastActivated(at(20)).
			TurnStart().User("Should we retry?").Assistant("Yes.").TurnStart().User("Do it.")
		w.Conversation("17610000000", "b").Title("Cache").LastActivated(at(1)).Set("expires_at", jptest.Timestamp(at(25))).User("What about RETRY?")
		w.Conversation("17620000000", "c").Title("Nightly").Set("hidden", true).User("Mention each retry.")
		w.Conversation("17630000000", "d").Title("Polling").Archived(at(2)).User("Longest retry was 31s.")
		w.Conversation("17640000000", "e").Title("Cut off").User("A retry before the damage.").Assistant("Lost.").
			Edit(jptest.EventsFile, func(data []byte) []byte { return data[:len(data)-30] })
		w.Conversation("17660000000", "f").User("retry").File(jptest.MetadataFile, []byte("{"))
		w.UserStore(dataDir).Conversation("17670000000", "g").Title("Mine").LastActivated(at(3)).User("Only mine.")
	})
}

func ids(listing conversations.Listing) string {
	var b strings.Builder
	for _, c := range listing.Conversations {
		fmt.Fprint(&b, strings.TrimSuffix(strings.TrimPrefix(string(c.ID), "jp-c176"), "0000000"), " ")
	}
	return strings.TrimSpace(b.String())
}

func TestList(t *testing.T) {
	t.Parallel()
	l := several(t)
	feed := "feed"
	other := "other"
	for _, test := range []struct {
		name  string
		q     conversations.ListQuery
		want  string
		total int
	}{
		{"by activity", conversations.ListQuery{}, "7 4 1 0", 4},
		{"oldest first", conversations.ListQuery{Ascending: true}, "0 1 4 7", 4},
		{"by activation", conversations.ListQuery{Sort: conversations.ByActivation}, "0 7 1 4", 4},
		{"a page", conversations.ListQuery{Limit: 2, Offset: 1}, "4 1", 4},
		{"behind the last page", conversations.ListQuery{Limit: 2, Offset: 9}, "", 4},
		{"missing values last", conversations.ListQuery{Sort: conversations.ByExpiry}, "1 0 4 7", 4},
		{"missing values last, the other way round", conversations.ListQuery{Sort: conversations.ByExpiry, Ascending: true}, "1 0 4 7", 4},
		{"by size", conversations.ListQuery{Sort: conversations.BySize}, "0 1 7 4", 4},
		{"by id", conversations.ListQuery{Sort: conversations.ByID}, "7 4 1 0", 4},
		{"by locality", conversations.ListQuery{Sort: conversations.ByLocality, Ascending: true}, "7 0 1 4", 4},
		{"hidden ones too", conversations.ListQuery{Filter: conversations.Filter{Hidden: true}}, "7 4 2 1 0", 5},
		{"archived", conversations.ListQuery{Filter: conversations.Filter{Archived: true}}, "3", 1},
		{"by title", conversations.ListQuery{TitleContains: "C"}, "4 1 0", 3},
		{"only the user's", conversations.ListQuery{UserOnly: true}, "7", 1},
		{"label", conversations.ListQuery{Filter: conversations.Filter{Labels: []conversations.Label{{Key: "decision"}, {Key: "area", Value: &feed}}}}, "0", 1},
		{"other label", conversations.ListQuery{Filter: conversations.Filter{Labels: []conversations.Label{{Key: "area", Value: &other}}}}, "", 0},
		{"excluded", conversations.ListQuery{Filter: conversations.Filter{Exclude: []string{"17600000000", "99"}}}, "7 4 1", 3},
		{"named", conversations.ListQuery{Filter: conversations.Filter{IDs: []string{"jp-c17630000000", "17620000000-c", "jp-c17620000000"}}, Sort: conversations.ByID, Ascending: true}, "2 3", 2},
	} {
		for _, noEvents := range []bool{false, true} {
			test.q.NoEvents = noEvents
			got, err := l.List(t.Context(), test.q)
			if err != nil || ids(got) != test.want || got.Total != test.total {
				t.Errorf("%s: %q of %d, %v; want %q of %d", test.name, ids(got), got.Total, err, test.want, test.total)
			}
		}
	}
	got, err := l.List(t.Context(), conversations.ListQuery{Filter: conversations.Filter{Exclude: []string{"17600000000"}}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Excluded, []transcript.ID{"jp-c17600000000"}) || got.Hidden != 1 {
		t.Errorf("aside %+v", got.Omitted)
	}
	if p := got.Problems; len(p) != 1 || p[0].ID != "jp-c17660000000" || p[0].Kind != store.BadMetadata {
		t.Errorf("problems %+v", p)
	}
	for _, c := range got.Conversations {
		damaged := c.ID == "jp-c17640000000"
		if damaged != (c.Damage != nil) || damaged && (c.Damage.Kind != store.DamagedEvents || c.Events != 0 || !c.LastEventAt.IsZero()) {
			t.Errorf("%+v", c)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	l := several(t)
	var notFound *conversations.NotFoundError
	_, err := l.Search(t.Context(), conversations.SearchQuery{Pattern: literal(t, "x", false), Filter: conversations.Filter{IDs: []string{"17600000000", "17600000001", "5"}}})
	if !errors.As(err, &notFound) || !slices.Equal(notFound.IDs, []transcript.ID{"jp-c17600000001", "jp-c5"}) || notFound.Nearest[0] != "jp-c17600000000" || notFound.Place != l.Place() {
		t.Errorf("%v", err)
	}
	var badID *conversations.BadIDError
	for _, id := range []string{"-", "../x", "jp-x"} {
		if _, _, err := l.Read(t.Context(), conversations.ReadQuery{ID: id}); !errors.As(err, &badID) || badID.Text != id {
			t.Errorf("id %q: %v", id, err)
		}
		if _, err := l.List(t.Context(), conversations.ListQuery{Filter: conversations.Filter{Exclude: []string{id}}}); !errors.As(err, &badID) {
			t.Errorf("exclude %q: %v", id, err)
		}
	}
	var nowhere *conversations.NoWorkspaceError
	if _, err := conversations.Open(conversations.Options{Dir: filepath.Join(t.TempDir(), "none"), Getenv: func(string) string { return "" }}); !errors.As(err, &nowhere) || !nowhere.Missing {
		t.Errorf("no workspace: %v", err)
	}
	empty := open(t, func(*jptest.Workspace, string) {})
	var none *conversations.NotFoundError
	if _, _, err := empty.Read(t.Context(), conversations.ReadQuery{}); !errors.As(err, &none) || none.Place != empty.Place() {
		t.Errorf("no conversation: %v", err)
	}
	missing := open(t, func(w *jptest.Workspace, _ string) {
		w.Conversation("17600000000", "x").User("x").File(jptest.EventsFile, nil)
	})
	var unreadable *conversations.UnreadableError
	if _, _, err := missing.Read(t.Context(), conversations.ReadQuery{ID: "17600000000"}); !errors.As(err, &unreadable) || unreadable.ID != "jp-c17600000000" {
		t.Errorf("no events: %v", err)
	}
}

// What the parts of a problem other than Path and Err hold is this program's own.
func TestProblemsRepeatNothingRecorded(t *testing.T) {
	t.Parallel()
	l := open(t, func(w *jptest.Workspace, _ string) {
		w.Conversation("17600000000", "SECRET").User("a needle").File(jptest.MetadataFile, []byte(`{"title":7,"SECRET":`))
		w.Conversation("17610000000", "SECRET").User("a needle").File(jptest.MetadataFile, []byte(`{"title":"x","expires_at":"SECRET"}`))
		w.Conversation("17620000000", "SECRET").User("a needle").File(jptest.EventsFile, []byte(`[{"timestamp":"SECRET","type":"chat_request","content":"a needle"}]`))
		w.Conversation("17630000000", "SECRET").File(jptest.EventsFile, []byte(`[{"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"a needle"},SECRET`))
		w.Conversation("17640000000", "SECRET").User("a needle")
		w.Conversation("17640000000", "SECRET-again").User("a needle")
	})
	list, err := l.List(t.Context(), conversations.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := l.Search(t.Context(), conversations.SearchQuery{Pattern: literal(t, "needle", false)})
	if err != nil {
		t.Fatal(err)
	}
	problems := slices.Concat(list.Problems, found.Problems)
	for _, c := range list.Conversations {
		if c.Damage != nil {
			problems = append(problems, *c.Damage)
		}
	}
	kinds := map[store.ProblemKind]bool{}
	for _, p := range problems {
		kinds[p.Kind] = true
		p.Path, p.Err = "", nil
		if text := fmt.Sprintf("%+v", p); strings.Contains(text, "SECRET") {
			t.Errorf("%s", text)
		}
	}
	for _, kind := range []store.ProblemKind{store.BadMetadata, store.BadField, store.DamagedEvents, store.Duplicate} {
		if !kinds[kind] {
			t.Errorf("no problem of kind %d", kind)
		}
	}
}

// One conversation with a time that cannot be written costs that time and a note,
// never the answer.
func TestTimesOutOfRange(t *testing.T) {
	t.Parallel()
	l := open(t, func(w *jptest.Workspace, _ string) {
		w.Conversation("17600000000", "good").Title("Good").TurnStart().User("needle")
		w.Conversation("17630000000", "number").Title("Long number").TurnStart().User("needle")
		w.Conversation("17610000000", "metadata").TurnStart().User("needle").
			File(jptest.MetadataFile, []byte(`{"title":"Metadata","expires_at":"9999-12-31T23:59:59-01:00","pinned_at":"0000-01-01T00:00:00+01:00"}`))
		w.Conversation("17620000000", "event").Title("Event").
			File(jptest.EventsFile, []byte(`[{"timestamp":"9999-12-31T23:59:59-01:00","type":"chat_request","content":"needle"}]`))
	})
	dir := filepath.Join(l.Place(), ".jp", "conversations")
	if err := os.Rename(filepath.Join(dir, "17630000000-number"), filepath.Join(dir, "999999999999999999-number")); err != nil {
		t.Fatal(err)
	}
	inRange := func(name string, times ...time.Time) {
		t.Helper()
		for _, at := range times {
			if y := at.Year(); y < 0 || y > 9999 {
				t.Errorf("%s: %v", name, at)
			}
		}
	}
	for by := conversations.ByActivity; by <= conversations.ByLocality; by++ {
		listing, err := l.List(t.Context(), conversations.ListQuery{Sort: by})
		if err != nil || len(listing.Conversations) != 4 {
			t.Fatalf("sort %d: %d conversations, %v", by, len(listing.Conversations), err)
		}
		var notes []string
		for _, p := range listing.Problems {
			if p.Kind != store.BadField {
				t.Errorf("sort %d: %+v", by, p)
			}
			notes = append(notes, string(p.ID)+" "+p.Field)
		}
		slices.Sort(notes)
		want := []string{"jp-c17610000000 expires_at", "jp-c17610000000 pinned_at", "jp-c17620000000 timestamp"}
		if diff := cmp.Diff(want, notes); diff != "" {
			t.Errorf("sort %d: notes (-want +got):\n%s", by, diff)
		}
		for _, c := range listing.Conversations {
			inRange(string(c.ID), c.CreatedAt, c.LastEventAt, c.LastActivatedAt, c.PinnedAt, c.ExpiresAt, c.ArchivedAt, c.ActiveAt())
		}
		found, err := l.Search(t.Context(), conversations.SearchQuery{Pattern: literal(t, "needle", false), Sort: by})
		if err != nil || found.Total != 4 || len(found.Problems) > 0 {
			t.Errorf("sort %d: %+v, %v", by, found, err)
		}
		for _, h := range found.Hits {
			inRange("event", h.Time)
		}
	}
	for _, id := range []string{"17620000000", "999999999999999999"} {
		events := 0
		r, err := readEach(t.Context(), l, conversations.ReadQuery{ID: id}, func(e *conversations.Event) error {
			inRange(id, e.Time)
			events++
			return nil
		})
		inRange(id, r.CreatedAt)
		if err != nil || events == 0 {
			t.Errorf("%s: %d events, %v", id, events, err)
		}
	}
}

func TestReadTurns(t *testing.T) {
	t.Parallel()
	hour := func(n int) time.Time { return now().Add(-time.Duration(n) * time.Hour) }
	l := open(t, func(w *jptest.Workspace, _ string) {
		c := w.Conversation("17600000000", "x")
		for n := 1; n <= 6; n++ {
			c.TurnStart(hour(7-n)).User(fmt.Sprint("turn ", n), hour(7-n))
			if n == 4 {
				c.Event("compaction", "from_turn", 0, "to_turn", 1, "summary", map[string]string{"summary": ""})
			}
		}
		w.Conversation("17610000000", "empty")
	})
	turns := func(first, last int) func(int) (int, int) {
		return func(int) (int, int) { return first, last }
	}
	for i, test := range []struct {
		turns func(int) (int, int)
		want  string
	}{
		{nil, "1-6"},
		{turns(2, 4), "2-4"},
		{func(of int) (int, int) { return of - 1, of }, "5-6"},
		{turns(7, 6), "none"},
		{turns(1, 0), "none"},
	} {
		var got []string
		r, err := readEach(t.Context(), l, conversations.ReadQuery{
			ID: "17600000000", Turns: test.turns, Kinds: func(k transcript.Kind) bool { return k == transcript.KindUser },
		}, func(e *conversations.Event) error {
			got = append(got, strings.TrimPrefix(string(e.Body()), "turn "))
			return nil
		})
		events, reading := "none", "none"
		if len(got) > 0 {
			events = got[0] + "-" + got[len(got)-1]
		}
		if r.FirstTurn > 0 {
			reading = fmt.Sprintf("%d-%d", r.FirstTurn, r.LastTurn)
		}
		if err != nil || events != test.want || reading != test.want {
			t.Errorf("%d: events %s, reading %s, %v; want %s", i, events, reading, err, test.want)
		}
	}
	var outside *conversations.RangeError
	for id, of := range map[string]int{"17600000000": 6, "17610000000": 0} {
		for _, n := range []int{0, 7} {
			r, _, err := l.Read(t.Context(), conversations.ReadQuery{ID: id, Turns: func(int) (int, int) { return n, n }})
			if !errors.As(err, &outside) || outside.N != n || outside.Of != of || r.Turns != of {
				t.Errorf("turn %d of %s: %+v, %v", n, id, r, err)
			}
		}
	}
}

func TestReadEvents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 10)
	l := open(t, func(w *jptest.Workspace, _ string) {
		w.Conversation("17600000000", "x").
			TurnStart().
			User(long).
			Reasoning("why").
			ToolCall("call_1", "fs_read", map[string]any{"path": long}).
			ToolResult("call_1", long+"é", true).
			Inquiry("q", "sure?").
			Event("inquiry_response", "id", "q", "answer", true).
			Event("chat_response", "data", map[string]any{"a": "b"}).
			Event("chat_response", "data", "a text").
			Assistant("done")
	})
	var got []string
	_, err := readEach(t.Context(), l, conversations.ReadQuery{ID: "17600000000"}, func(e *conversations.Event) error {
		got = append(got, fmt.Sprintf("%v %s/%s %q json=%t error=%t", e.Kind, e.Name, e.CallID, e.Body(), len(e.Arguments) > 0, e.Failed))
		return nil
	})
	want := []string{
		`turn_start / "" json=false error=false`,
		`user / "` + long + `" json=false error=false`,
		`reasoning / "why" json=false error=false`,
		`tool_call fs_read/call_1 "{\n  \"path\": \"` + long + `\"\n}" json=true error=false`,
		`tool_result /call_1 "` + long + `é" json=false error=true`,
		`inquiry /q "sure?" json=false error=false`,
		`inquiry_response /q "true" json=true error=false`,
		`structured / "{\n  \"a\": \"b\"\n}" json=true error=false`,
		`structured / "a text" json=false error=false`,
		`assistant / "done" json=false error=false`,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	_, err = readEach(t.Context(), l, conversations.ReadQuery{ID: "17600000000"}, func(e *conversations.Event) error {
		if json := string(eventtext.AppendJSON(nil, &e.Event, true)); !strings.HasPrefix(json, `{"timestamp":"`) {
			t.Errorf("%s", json)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A damaged conversation is read up to the damage, which is part of the answer.
func TestReadDamaged(t *testing.T) {
	t.Parallel()
	events := 0
	r, err := readEach(t.Context(), several(t), conversations.ReadQuery{ID: "17640000000"}, func(*conversations.Event) error {
		events++
		return nil
	})
	if err != nil || r.Damage == nil || r.Damage.Kind != store.DamagedEvents || r.Damage.Event != 1 || events != 1 || r.Turns != 1 {
		t.Errorf("%d events, %+v, %v", events, r, err)
	}
}

// Many small events take no more memory than few, and a reader is told no more
// once the context ends.
func TestReadingIsBounded(t *testing.T) {
	const events = 50_000
	l := open(t, func(w *jptest.Workspace, _ string) {
		text := "[" + strings.Repeat(`{"timestamp":"2026-05-29 19:42:36.5","type":"chat_request","content":"hi"},`, events-1) + `{"type":"turn_start"}]`
		w.Conversation("17600000000", "x").File(jptest.EventsFile, []byte(text))
	})
	held := func() int {
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		return int(now.HeapAlloc)
	}
	n, before, after := 0, 0, 0
	_, err := readEach(t.Context(), l, conversations.ReadQuery{ID: "17600000000"}, func(*conversations.Event) error {
		switch n++; n {
		case 1000:
			before = held()
		case events - 1:
			after = held()
		}
		return nil
	})
	if after-before > 1<<20 || n != events || err != nil {
		t.Errorf("%d bytes held more after %d events, %v", after-before, n, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	_, err = readEach(ctx, l, conversations.ReadQuery{ID: "17600000000"}, func(*conversations.Event) error {
		if n++; n == 1000 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n > 1100 {
		t.Errorf("%d events after the context ended, %v", n-1000, err)
	}
}

// Queries at the same time answer as one does.
func TestManyQueriesAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "w")
	w := jptest.New(dir, "tests")
	const many, lines = 3, 50_000
	for i := range many {
		w.Conversation(fmt.Sprint(17600000000+i), "x").TurnStart().User("needle").ToolResult("call", strings.Repeat("needle\n", lines), false)
	}
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	needle := literal(t, "needle", false)
	var queries sync.WaitGroup
	for range 4 {
		queries.Go(func() {
			l, err := conversations.Open(conversations.Options{Dir: dir, Getenv: func(string) string { return "" }})
			if err != nil {
				t.Error(err)
				return
			}
			found, err := l.Search(t.Context(), conversations.SearchQuery{Pattern: needle})
			if want := many * (lines + 1); err != nil || found.Total != want || len(found.Hits) != 2*many {
				t.Errorf("%d matches in %d events, %v; want %d", found.Total, len(found.Hits), err, want)
			}
			if listing, err := l.List(t.Context(), conversations.ListQuery{}); err != nil || listing.Conversations[0].Events != 3 {
				t.Errorf("%+v, %v", listing, err)
			}
		})
	}
	queries.Wait()
}

// readEach reads a conversation, and calls do with each event until do returns an error.
func readEach(ctx context.Context, source conversations.Source, q conversations.ReadQuery, do func(*conversations.Event) error) (conversations.Reading, error) {
	r, events, err := source.Read(ctx, q)
	if err != nil {
		return r, err
	}
	for e := range events {
		if err := do(e); err != nil {
			return r, err
		}
	}
	return r, ctx.Err()
}
