package conversations_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
	"github.com/convtools/convtools/runtime/transcript"
)

// asked is a workspace that questions are asked about.
type asked struct {
	dir     string
	indexes *conversations.Indexes
}

// workspaceOf writes a workspace.
func workspaceOf(t *testing.T, fill func(w *jptest.Workspace)) *asked {
	t.Helper()
	a := &asked{dir: t.TempDir(), indexes: conversations.NewIndexes(t.TempDir())}
	t.Cleanup(a.indexes.Close)
	a.write(t, fill)
	return a
}

func (a *asked) write(t *testing.T, fill func(w *jptest.Workspace)) {
	t.Helper()
	w := jptest.New(a.dir, "hb7k2")
	fill(w)
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
}

// rank asks a question.
func (a *asked) rank(t *testing.T, q conversations.SearchQuery) *conversations.Results {
	t.Helper()
	l, err := conversations.Open(conversations.Options{Dir: a.dir, Getenv: func(string) string { return "" }, Indexes: a.indexes, Once: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if q.Limit == 0 {
		q.Limit, q.MaxText, q.MaxWide = 20, 300, 900
	}
	q.Order = conversations.Relevance
	r, err := l.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// first returns the passage that ranks highest, as id:event text.
func first(r *conversations.Results) string {
	if len(r.Hits) == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", r.Hits[0].Conversation.ID, r.Hits[0].Number)
}

const filler = "The quay has many berths and the harbour office counts the boats that lie there every morning. "

// TestRankOrder: what makes a passage the best one, with the reason.
func TestRankOrder(t *testing.T) {
	t.Parallel()
	const one, two, three = "17000000001", "17000000002", "17000000003"
	for _, tc := range []struct {
		name, query, want string // want is the event of the best passage
		fill              func(w *jptest.Workspace)
	}{
		{"a rare word before common ones", "harbour office gauge", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User("The harbour office, the harbour office!").Assistant("Yes, the harbour office.")
			w.Conversation(two, "b").User("The gauge broke.").Assistant("I see.")
			w.Conversation(three, "c").User(filler).Assistant(filler)
		}},
		{"what was said before a tool's output", "tidal gauge resets", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User("Look.").ToolCall("c1", "fs_read_file", map[string]any{"path": "x"}).
				ToolResult("c1", "the tidal gauge resets at night", false).Assistant("Done.")
			w.Conversation(two, "b").User("The tidal gauge resets at night.").Assistant("Noted.")
		}},
		{"two words near each other before the same far apart", "storm warning", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User("A storm came. " + filler + "Nobody gave a warning.").Assistant("So.")
			w.Conversation(two, "b").User("The storm warning came. " + filler + "Nobody gave one before.").Assistant("So.")
		}},
		{"two words before one of them often", "storm warning", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User("storm storm storm storm storm storm").Assistant("So.")
			w.Conversation(two, "b").User("A storm needs a warning of some kind").Assistant("So.")
			w.Conversation(three, "c").User("storm again").Assistant("storm once more")
		}},
		{"another form of the word", "caching", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User("We cash in.").Assistant("Fine.")
			w.Conversation(two, "b").User("The answer was cached.").Assistant("Fine.")
		}},
		{"an identifier by its parts", "parse config", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User("The config is here.").Assistant("Fine.")
			w.Conversation(two, "b").User("parseConfig is wrong.").Assistant("Fine.")
		}},
		{"a path by its segments", "tide_table.go", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User("The table of tides, in Go.").Assistant("Fine.")
			w.Conversation(two, "b").User("See cmd/harbour/tide_table.go there.").Assistant("Fine.")
		}},
		{"an identifier as a whole", "max_tide_level", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User("the level of the tide has a max there and a level").Assistant("Fine.")
			w.Conversation(two, "b").User("the const max_tide_level has a value there and more").Assistant("Fine.")
		}},
		{"Han without spaces", "記憶装置", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User("記号と装飾の話です").Assistant("はい。")
			w.Conversation(two, "b").User("この記憶装置は古い").Assistant("はい。")
		}},
		{"a short text before the same words in a long one", "anchor chain", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User(strings.Repeat(filler, 8) + "The anchor chain. " + strings.Repeat(filler, 8)).Assistant("So.")
			w.Conversation(two, "b").User("The anchor chain is gone.").Assistant("So.")
		}},
		{"the newer of equal ones", "lighthouse keeper", "jp-c17000000002:1", func(w *jptest.Workspace) {
			w.Conversation(one, "a").User("The lighthouse keeper came.").Assistant("So.")
			w.Conversation(two, "b").User("The lighthouse keeper left.").Assistant("So.")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := workspaceOf(t, tc.fill)
			r := a.rank(t, conversations.SearchQuery{Question: tc.query})
			if got := first(r); got != tc.want {
				t.Errorf("the best passage is %s, want %s: %+v", got, tc.want, r.Conversations)
			}
			if len(r.Conversations) > 0 && !strings.HasPrefix(tc.want, string(r.Conversations[0].ID)+":") {
				t.Errorf("the best conversation is %s", r.Conversations[0].ID)
			}
		})
	}
}

// TestRankBeside: of equal messages the one beside another one that matches ranks higher, and
// one that has none of the words is shown for that alone.
func TestRankBeside(t *testing.T) {
	t.Parallel()
	a := workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "a").User("The ferry.").Assistant("It fails at times.")
		w.Conversation("17000000002", "b").User("The sluice.").Assistant("It fails at times.").User("I see.")
	})
	scores := map[string]float64{}
	for _, h := range a.rank(t, conversations.SearchQuery{Question: "sluice fails"}).Hits {
		scores[fmt.Sprintf("%s:%d", h.Conversation.ID, h.Number)] = h.Score
	}
	if scores["jp-c17000000002:2"] <= scores["jp-c17000000001:2"] || scores["jp-c17000000002:3"] == 0 {
		t.Errorf("scores: %v", scores)
	}
}

// events returns the events of all passages, by conversation.
func events(r *conversations.Results) map[transcript.ID][]int {
	found := map[transcript.ID][]int{}
	for _, c := range r.Conversations {
		for _, p := range r.Of(c) {
			found[c.ID] = append(found[c.ID], p.Number)
		}
	}
	return found
}

// TestRankFilters: what a question may leave out, and is left out in any case.
func TestRankFilters(t *testing.T) {
	t.Parallel()
	const id, other = "jp-c17000000001", "jp-c17000000002"
	day := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	a := workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "a").
			User("Where is the beacon?", day).
			ToolCall("c1", "beacon_find", map[string]any{"what": "beacon"}, day.Add(time.Hour)).
			ToolResult("c1", "beacon: not found", true, day.Add(2*time.Hour)).
			ToolCall("c2", "conversation_recall", map[string]any{"query": "beacon"}, day.Add(2*time.Hour)).
			ToolResult("c2", "the beacon again", false, day.Add(2*time.Hour)).
			Reasoning("The beacon may be gone.", day.Add(3*time.Hour)).
			Assistant("The old beacon is gone.", day.Add(24*time.Hour))
		w.Conversation("17000000002", "b").User("A new beacon, please.").Assistant("Built.")
	})
	isOwn := func(tool string) bool { return strings.HasPrefix(tool, "conversation_") }
	for _, tc := range []struct {
		name string
		q    conversations.SearchQuery
		want map[transcript.ID][]int
	}{
		{"everything but own calls", conversations.SearchQuery{}, map[transcript.ID][]int{id: {1, 2, 3, 6, 7}, other: {1, 2}}},
		{"one conversation", conversations.SearchQuery{Filter: conversations.Filter{IDs: []string{id}}}, map[transcript.ID][]int{id: {1, 2, 3, 6, 7}}},
		{"without one", conversations.SearchQuery{Filter: conversations.Filter{Exclude: []string{id}}}, map[transcript.ID][]int{other: {1, 2}}},
		{"from a time on", conversations.SearchQuery{Since: day.Add(3 * time.Hour), Filter: conversations.Filter{IDs: []string{id}}}, map[transcript.ID][]int{id: {6, 7}}},
		{"up to a time", conversations.SearchQuery{Until: day.Add(time.Hour), Filter: conversations.Filter{IDs: []string{id}}}, map[transcript.ID][]int{id: {1, 2}}},
		{"a scope", conversations.SearchQuery{Scopes: transcript.ScopeReasoning}, map[transcript.ID][]int{id: {6}}},
		{"failed calls", conversations.SearchQuery{Errors: true}, map[transcript.ID][]int{id: {3}}},
		{"failed calls and what the assistant said", conversations.SearchQuery{Errors: true, Scopes: transcript.ScopeAssistant}, map[transcript.ID][]int{id: {3, 7}}},
		{"as it stands", conversations.SearchQuery{Question: `"OLD beacon"`}, map[transcript.ID][]int{id: {7}}},
		{"as it stands nowhere", conversations.SearchQuery{Question: `"beacon old" gone`}, map[transcript.ID][]int{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := tc.q
			q.Own = isOwn
			if q.Question == "" {
				q.Question = "beacon"
			}
			if diff := cmp.Diff(tc.want, events(a.rank(t, q))); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRankChanges: what is new is found at once, and what is gone no longer; also where the cache
// cannot be written, or there is none.
func TestRankChanges(t *testing.T) {
	t.Parallel()
	for name, indexes := range map[string]func(t *testing.T) *conversations.Indexes{
		"kept": func(t *testing.T) *conversations.Indexes { return conversations.NewIndexes(t.TempDir()) },
		"a file in place of the cache": func(t *testing.T) *conversations.Indexes {
			file := filepath.Join(t.TempDir(), "cache")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return conversations.NewIndexes(file)
		},
		"none": func(*testing.T) *conversations.Indexes { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &asked{dir: t.TempDir(), indexes: indexes(t)}
			t.Cleanup(a.indexes.Close)
			a.write(t, func(w *jptest.Workspace) {
				w.Conversation("17000000001", "a").User("The dredger came.").Assistant("Good.")
			})
			if got := first(a.rank(t, conversations.SearchQuery{Question: "dredger"})); got != "jp-c17000000001:1" {
				t.Errorf("before: %q", got)
			}
			if got := first(a.rank(t, conversations.SearchQuery{Question: "pilot"})); got != "" {
				t.Errorf("before, of what is not there: %q", got)
			}
			if err := os.RemoveAll(filepath.Join(a.dir, ".jp")); err != nil {
				t.Fatal(err)
			}
			a.write(t, func(w *jptest.Workspace) {
				w.Conversation("17000000002", "b").User("The pilot boat came.").Assistant("Good.")
			})
			if got := first(a.rank(t, conversations.SearchQuery{Question: "pilot"})); got != "jp-c17000000002:1" {
				t.Errorf("after: %q", got)
			}
			if got := first(a.rank(t, conversations.SearchQuery{Question: "dredger"})); got != "" {
				t.Errorf("after, of what is gone: %q", got)
			}
		})
	}
}

// TestRankWords: the answer says of the words of a question how many events have them.
func TestRankWords(t *testing.T) {
	t.Parallel()
	a := workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "a").User("The buoy is red.").Assistant("Red buoys are port.").User("And green?").Assistant("Starboard.")
	})
	r := a.rank(t, conversations.SearchQuery{Question: "What colour is the buoy, zephyr?"})
	want := []conversations.Word{{Word: "colour", Term: "colour"}, {Word: "buoy", Term: "buoy", Events: 2, Rare: true}, {Word: "zephyr", Term: "zephyr"}}
	for i := range r.Words {
		if r.Words[i].Events == 0 {
			r.Words[i].Rare = false // which no event has
		}
	}
	if diff := cmp.Diff(want, r.Words); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "?!", `"`, "\x00", "\xff", strings.Repeat("word ", 300), "the of and"} {
		a.rank(t, conversations.SearchQuery{Question: text})
	}
}

// TestRankDamaged: what can be read of a damaged conversation is found, and the damage is said.
func TestRankDamaged(t *testing.T) {
	t.Parallel()
	a := workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "a").User("The winch is stuck.").Assistant("Oil it.").
			Edit(jptest.EventsFile, func(data []byte) []byte { return data[:len(data)-10] })
		w.Conversation("17000000002", "b").User("The crane.").Assistant("Fine.")
	})
	for range 2 { // as it is read, and as it is kept
		r := a.rank(t, conversations.SearchQuery{Question: "winch"})
		if got := first(r); got != "jp-c17000000001:1" {
			t.Errorf("the best passage is %q", got)
		}
		if p := r.Problems; len(p) != 1 || p[0].ID != "jp-c17000000001" || p[0].Kind != store.DamagedEvents {
			t.Errorf("problems: %+v", p)
		}
	}
}

// TestRankLarge: an event of many words, and one without a space, cost no more than others.
func TestRankLarge(t *testing.T) {
	t.Parallel()
	a := workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "a").User("Where is the bollard?").
			Assistant(strings.Repeat(filler, 30_000)+"bollard").
			ToolCall("c1", "read", map[string]any{"path": "x"}).ToolResult("c1", strings.Repeat("0123456789abcdef", 100_000)+" bollard", false)
	})
	r := a.rank(t, conversations.SearchQuery{Question: "bollard"})
	if got := first(r); got != "jp-c17000000001:1" {
		t.Errorf("the best passage is %q", got)
	}
	for _, c := range r.Conversations {
		for _, p := range r.Of(c) {
			if len(p.Text) > 300 || len(p.Wide.Text) > 900 {
				t.Errorf("passages of %d and %d bytes", len(p.Text), len(p.Wide.Text))
			}
		}
	}
}

// TestDamagedIndex: an index that is damaged anywhere is made anew by each kind of question that reads messages.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := &asked{dir: t.TempDir()}
	a.write(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "a").User("The fender is torn.").Assistant(strings.Repeat(filler, 2000)).
			ToolCall("c1", "fs_modify_file", map[string]any{"path": "fender.go", "patterns": []any{map[string]any{"old": "torn", "new": "sewn"}}}).ToolResult("c1", "Done.", false)
	})
	file := conversations.Filter{File: "fender.go"}
	open := func() *conversations.Library {
		a.indexes = conversations.NewIndexes(dir)
		l, err := conversations.Open(conversations.Options{Dir: a.dir, Getenv: func(string) string { return "" }, Indexes: a.indexes, Once: true})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	questions := map[string]func() string{
		"recall": func() string {
			a.indexes = conversations.NewIndexes(dir)
			return first(a.rank(t, conversations.SearchQuery{Question: "fender"}))
		},
		"list": func() string {
			l := open()
			defer l.Close()
			listing, err := l.List(t.Context(), conversations.ListQuery{Filter: file})
			return fmt.Sprint(listing.Total, err)
		},
		"blame": func() string {
			l := open()
			defer l.Close()
			blame, err := l.Blame(t.Context(), conversations.BlameQuery{Filter: file, Limit: 1})
			return fmt.Sprint(len(blame.Changes), err)
		},
	}
	want := map[string]string{"recall": "jp-c17000000001:1", "list": "1 <nil>", "blame": "1 <nil>"}
	segment := func() string {
		found, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.seg"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
		return found[0]
	}
	for name, ask := range questions {
		check := func(when string) {
			if got := ask(); got != want[name] {
				t.Errorf("%s: %s: %q, want %q", when, name, got, want[name])
			}
			a.indexes.Close()
		}
		check("whole")
		whole, err := os.ReadFile(segment())
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(whole); at += 1 + len(whole)/16 {
			damaged := append([]byte(nil), whole...)
			damaged[at] ^= 0x10
			if err := os.WriteFile(segment(), damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			check(fmt.Sprintf("with byte %d damaged", at))
		}
	}
}

// TestRankEvents: a range of events of one conversation is ranked alone, and the passages of a
// text are those with its words.
func TestRankEvents(t *testing.T) {
	t.Parallel()
	a := workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "a").TurnStart().User("The gauge broke.").Assistant("Which gauge?").User("The gauge at the quay, the gauge!").Assistant("I see.")
		w.Conversation("17000000002", "b").TurnStart().User("A gauge, a gauge, a gauge.").Assistant(filler)
	})
	q := conversations.SearchQuery{Filter: conversations.Filter{IDs: []string{"jp-c17000000001"}}, Question: "gauge at the quay", Events: conversations.EventRange{First: 1, Last: 2}}
	r := a.rank(t, q)
	var numbers []int
	for _, c := range r.Conversations {
		for _, p := range r.Of(c) {
			numbers = append(numbers, p.Number)
		}
	}
	if diff := cmp.Diff([]int{1, 2}, numbers); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	text := filler + "Nobody was there. At the quay is a gauge. " + filler
	spans := r.Passages(text, 40, 40)
	if len(spans) != 1 || text[spans[0].Start:spans[0].End] != "At the quay is a gauge." {
		t.Errorf("passages: %v", spans)
	}
	if got := (&conversations.Results{}).Passages(text, 40, 40); got != nil {
		t.Errorf("passages of no question: %v", got)
	}
}

// TestRankShows: a short reply to a question is shown with it, the latest statement is named, and
// an equal passage in another conversation too.
func TestRankShows(t *testing.T) {
	t.Parallel()
	a := workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "a").TurnStart().User("Plan the gauge.").
			Assistant("Option one: a gauge of brass. Shall I take it?").User("I can't use that, because it rusts.").Assistant("Then steel.").
			User("And the paint?").Assistant("Blue.").User("Which gauge?").Assistant("The gauge is of steel now.").User("Good.").Assistant("Fine.")
		w.Conversation("17000000002", "b").TurnStart().User("Plan the gauge.").Assistant(filler)
		w.Conversation("17000000003", "c").TurnStart().User("Hello.").Assistant(filler)
	})
	r := a.rank(t, conversations.SearchQuery{Question: "gauge of brass"})
	shown := map[int]*conversations.Hit{}
	best := r.Conversations[0]
	for _, p := range r.Of(best) {
		shown[p.Number] = p
	}
	if best.ID != "jp-c17000000001" || shown[3].Text != "I can't use that, because it rusts." || shown[3].Score >= shown[2].Score {
		t.Errorf("%s: %+v", best.ID, r.Of(best))
	}
	r = a.rank(t, conversations.SearchQuery{Question: "gauge"})
	for _, c := range r.Conversations {
		if c.ID == "jp-c17000000001" && (c.Latest == nil || c.Latest.Number != 8) {
			t.Errorf("latest: %+v", c.Latest)
		}
	}
	also := 0
	for _, c := range r.Conversations {
		for _, p := range r.Of(c) {
			if also += len(p.Also); len(p.Also) > 0 && p.Text != "Plan the gauge." {
				t.Errorf("%q is also in %v", p.Text, p.Also)
			}
		}
	}
	if also != 1 {
		t.Errorf("%d repeats", also)
	}
}

// TestRankShowsProposals: beside a short reply that ranks by itself is the end of what it replies to.
func TestRankShowsProposals(t *testing.T) {
	t.Parallel()
	proposal := strings.Repeat(filler, 4) + "We could take brass, or steel. Tell me which."
	a := workspaceOf(t, func(w *jptest.Workspace) {
		w.Conversation("17000000001", "a").TurnStart().User("What do you propose?").Assistant(proposal).Reasoning("Let me wait.").
			User("Yes, the second option.").Assistant(filler)
		w.Conversation("17000000002", "b").TurnStart().User("Hello.").Assistant(filler)
	})
	r := a.rank(t, conversations.SearchQuery{Question: "second option"})
	var shown []int
	for _, p := range r.Of(r.Conversations[0]) {
		shown = append(shown, p.Number)
		if p.Number == 2 && (!strings.HasSuffix(p.Text, "We could take brass, or steel. Tell me which.") || !p.Before || p.After) {
			t.Errorf("of the proposal is shown %+v", p.Excerpt)
		}
	}
	if !slices.Contains(shown, 2) || !slices.Contains(shown, 4) {
		t.Errorf("shown are %v", shown)
	}
	if latest := r.Conversations[0].Latest; latest == nil || latest.Number != 4 || latest.Text != "Yes, the second option." {
		t.Errorf("latest: %+v", latest)
	}
}

// A question about one conversation counts no words of others.
func TestWordsOfExcluded(t *testing.T) {
	t.Parallel()
	s := &messageStore{}
	for id, text := range map[string]string{"memory-a": "the zyxdeploy fails again", "memory-b": "the upload fails again"} {
		c := chat{events: []said{{kind: transcript.KindUser, text: text}}}
		c.ID = transcript.ID(id)
		s.chats = append(s.chats, c)
	}
	l := messagesLibrary([]*messageStore{s})
	for _, test := range []struct {
		id, text string
		events   int
	}{
		{"memory-a", "zyxdeploy", 1},
		{"memory-b", "zyxdeploy", 0},
	} {
		r, err := l.Search(t.Context(), conversations.SearchQuery{Order: conversations.Relevance, Filter: conversations.Filter{IDs: []string{test.id}}, Question: test.text, Limit: 3, MaxText: 100, MaxWide: 100})
		if err != nil || len(r.Words) != 1 || r.Words[0].Events != test.events {
			t.Errorf("%s in %s: %+v, %v", test.text, test.id, r.Words, err)
		}
	}
}
