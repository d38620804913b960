package index_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/index"
)

// contains reports whether a text contains another one, rune for rune by simple folding. The tests compare the index with
// it.
func contains(text, part string) bool {
	n := utf8.RuneCountInString(part)
	var starts []int
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	for i := 0; i+n < len(starts); i++ {
		if candidate := text[starts[i]:starts[i+n]]; utf8.ValidString(candidate) && strings.EqualFold(candidate, part) {
			return true
		}
	}
	return false
}

// model is the expected contents of an index.
type model map[string]*indexed

type indexed struct {
	index.Conversation
	messages []index.Message
}

// found is a message as the tests compare it.
type found struct {
	Key     string
	Number  uint32
	Version string
	Kind    uint8
	Time    time.Time
	Text    string
	Extra   string
}

// search returns the expected answer to a query.
func (m model) search(q *index.Query) []found {
	type entry struct {
		index.Position
		found found
	}
	var entries []entry
	for _, c := range m {
		if q.Wanted != nil && !q.Wanted(c.Key) {
			continue
		}
		for _, msg := range c.messages {
			at := index.Position{Time: msg.Time, Order: c.Order, Key: c.Key, Number: msg.Number}
			switch {
			case q.Text != "" && !contains(string(msg.Text), q.Text) && (q.TextOnly || !contains(c.Title, q.Text)),
				q.Kinds>>msg.Kind&1 == 0,
				(!q.Since.IsZero() || !q.Until.IsZero()) && msg.Time.IsZero(),
				!q.Since.IsZero() && msg.Time.Before(q.Since),
				!q.Until.IsZero() && msg.Time.After(q.Until),
				q.After != nil && at.Compare(q.After) <= 0:
				continue
			}
			entries = append(entries, entry{at, found{c.Key, msg.Number, c.Version, msg.Kind, msg.Time, string(msg.Text), string(msg.Extra)}})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		p, q := a.Position, b.Position
		if p.Time.IsZero() != q.Time.IsZero() {
			return cmp.Compare(q.Time.Unix(), p.Time.Unix()) // the zero time is very early
		}
		return cmp.Or(q.Time.Compare(p.Time), cmp.Compare(p.Order, q.Order), cmp.Compare(len(p.Key), len(q.Key)), cmp.Compare(p.Key, q.Key), cmp.Compare(p.Number, q.Number))
	})
	list := make([]found, 0, len(entries))
	for _, e := range entries {
		list = append(list, e.found)
	}
	return list
}

// searched returns the answer of an index.
func searched(t *rapid.T, v *index.View, q index.Query) []found {
	t.Helper()
	list := []found{}
	for h, err := range v.Search(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		text, err := h.Read()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, found{h.Key, h.Number, h.Conversation.Version, h.Kind, h.Time, string(text), string(h.Extra)})
	}
	return list
}

func each(messages []index.Message) iter.Seq2[*index.Message, error] {
	return func(yield func(*index.Message, error) bool) {
		for i := range messages {
			if !yield(&messages[i], nil) {
				return
			}
		}
	}
}

// letters fold to runes of other lengths, are parts of each other in UTF-8, or are special in some syntax.
const letters = "aAbBkK\u212AsSſßẞiIİıéÉσςΣǅǆ中文天气 	\n%_\\\"'\x00.\uFFFD🎉한かЖж"

func drawText(t *rapid.T, most int, label string) string {
	return rapid.StringOfN(rapid.SampledFrom([]rune(letters)), 0, most, -1).Draw(t, label)
}

func drawMessage(t *rapid.T, number int) index.Message {
	m := index.Message{Number: uint32(number), Kind: uint8(rapid.IntRange(0, 4).Draw(t, "kind")), Text: []byte(drawText(t, 60, "text")), Extra: []byte(drawText(t, rapid.SampledFrom([]int{2, 2, 60}).Draw(t, "most extra"), "extra"))}
	if n := rapid.IntRange(0, 6).Draw(t, "time"); n > 0 {
		m.Time = time.Unix(int64(n-4), int64(n%2)).UTC()
	}
	return m
}

// TestAnswers compares searches with a naive search, over an index that is written in several steps: conversations
// are added, grow, are edited, and are removed.
func TestAnswers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := tempDir(t)
		if err != nil {
			t.Fatal(err)
		}
		x := index.Open(dir)
		x.SetLimits(rapid.SampledFrom([]int{200, 1000, 1 << 20}).Draw(t, "segment"), rapid.SampledFrom([]int{3, 1000}).Draw(t, "messages"))
		m := model{}
		for step := range rapid.IntRange(1, 8).Draw(t, "steps") {
			purged := change(t, x, m, step)
			v, err := x.View()
			if err != nil {
				t.Fatal(err)
			}
			if dead := v.Dead(); purged && dead > 0 {
				t.Fatalf("purged, and %d are on the disk", dead)
			}
			for range 4 {
				compare(t, v, m, drawQuery(t, m))
			}
		}
	})
}

// change changes an index and its model, and reports whether it purges the index.
func change(t *rapid.T, x *index.Index, m model, step int) (purged bool) {
	w, err := x.Write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range rapid.IntRange(1, 4).Draw(t, "changes") {
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "aa", "b1"}).Draw(t, "key")
		c := m[key]
		if c != nil && rapid.IntRange(0, 5).Draw(t, "delete") == 0 {
			w.Delete(key)
			delete(m, key)
			continue
		}
		if c == nil {
			c = &indexed{}
			c.Key = key
			c.Order = int64(rapid.IntRange(-1, 1).Draw(t, "order"))
		}
		next := *c
		next.messages = slices.Clone(c.messages)
		next.Version, next.Facts = fmt.Sprint(step, rapid.IntRange(0, 9).Draw(t, "version")), []byte(drawText(t, 3, "facts"))
		next.Title = drawText(t, 6, "title")
		next.Sum = []byte(drawText(t, 3, "mark"))
		grows := false
		switch n := len(next.messages); {
		case n > 0 && rapid.IntRange(0, 3).Draw(t, "edit") == 0:
			at := rapid.IntRange(0, n-1).Draw(t, "edited")
			next.messages[at] = drawMessage(t, at+1)
		case n > 0 && rapid.IntRange(0, 5).Draw(t, "cut") == 0:
			next.messages = next.messages[:n-1]
		case rapid.IntRange(0, 5).Draw(t, "reorder") == 0:
			next.Order++
		default:
			grows = c.Version != "" && rapid.Bool().Draw(t, "append")
		}
		for range rapid.IntRange(0, 5).Draw(t, "added") {
			next.messages = append(next.messages, drawMessage(t, len(next.messages)+1))
		}
		put, messages := w.Put, next.messages
		if grows {
			old := w.Lookup(key)
			if old == nil || !bytes.Equal(old.Sum, c.Sum) {
				t.Fatalf("%+v; want the mark %q", old, c.Sum)
			}
			messages = messages[len(c.messages):]
			put = func(ctx context.Context, c *index.Conversation, messages iter.Seq2[*index.Message, error]) error {
				return w.Append(ctx, c, old, messages)
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "fail") == 0 {
			failing := func(yield func(*index.Message, error) bool) {
				for msg := range each(messages) {
					if !yield(msg, nil) {
						return
					}
				}
				yield(nil, errTest)
			}
			if err := put(t.Context(), &next.Conversation, failing); !errors.Is(err, errTest) {
				t.Fatalf("Put: %v", err)
			}
			continue
		}
		if err := put(t.Context(), &next.Conversation, each(messages)); err != nil {
			t.Fatal(err)
		}
		m[key] = &next
	}
	if purged = rapid.IntRange(0, 3).Draw(t, "purge") == 0; purged {
		w.Purge()
	}
	if err := w.Commit(t.Context(), index.State{Note: fmt.Sprint(step)}, nil); err != nil {
		t.Fatal(err)
	}
	return purged
}

// TestPurge checks that Purge erases removed messages, and that they stay on the disk otherwise.
func TestPurge(t *testing.T) {
	t.Parallel()
	x := index.Open(t.TempDir())
	write := func(do func(w *index.Writer)) int {
		w, err := x.Write(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		do(w)
		if err := w.Commit(t.Context(), index.State{}, nil); err != nil {
			t.Fatal(err)
		}
		v, err := x.View()
		if err != nil {
			t.Fatal(err)
		}
		return v.Dead()
	}
	write(func(w *index.Writer) {
		for i := range 9 {
			c := index.Conversation{Key: fmt.Sprint(i), Title: "Retries"}
			if err := w.Put(t.Context(), &c, each([]index.Message{{Number: 1, Text: []byte("Why do we retry?")}})); err != nil {
				t.Fatal(err)
			}
		}
	})
	if dead := write(func(w *index.Writer) { w.Delete("1") }); dead != 1 {
		t.Errorf("%d are on the disk: there is nothing to purge", dead)
	}
	if dead := write(func(w *index.Writer) { w.Delete("2"); w.Purge() }); dead != 0 {
		t.Errorf("%d are on the disk", dead)
	}
}

// TestMergedTwice checks that a conversation in two segments has each message once after they are merged with others
// and rewritten.
func TestMergedTwice(t *testing.T) {
	t.Parallel()
	x := index.Open(t.TempDir())
	x.SetLimits(200, 1000)
	write := func(do func(put func(key string, sizes ...int), w *index.Writer)) {
		t.Helper()
		w, err := x.Write(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		do(func(key string, sizes ...int) {
			var messages []index.Message
			for n, size := range sizes {
				messages = append(messages, index.Message{Number: uint32(n + 1), Text: []byte(strings.Repeat("a", size))})
			}
			if err := w.Put(t.Context(), &index.Conversation{Key: key}, each(messages)); err != nil {
				t.Fatal(err)
			}
		}, w)
		if err := w.Commit(t.Context(), index.State{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	type puts = func(key string, sizes ...int)
	write(func(put puts, _ *index.Writer) { put("goes", 150); put("split", 60, 60) })
	write(func(put puts, w *index.Writer) { put("between", 60); w.Delete("goes"); w.Purge() })
	write(func(put puts, _ *index.Writer) { put("goes too", 60) })
	write(func(_ puts, w *index.Writer) { w.Delete("goes too"); w.Purge() })
	v, err := x.View()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for h, err := range v.Search(t.Context(), index.Query{Filter: index.Filter{Kinds: 1}, Text: "a", Has: func([]byte) bool { return true }}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(h.Key, h.Number))
	}
	slices.Sort(got)
	if diff := gocmp.Diff([]string{"between1", "split1", "split2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEveryPart looks for each part of a message. A part begins and ends anywhere in a word.
func TestEveryPart(t *testing.T) {
	t.Parallel()
	text := []rune("It is but a phrase, said out  as were at: 中文天气 in 天 气 of ſo")
	x := index.InMemory()
	w, err := x.Write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	message := index.Message{Number: 1, Kind: 1, Text: []byte(string(text))}
	err = w.Put(t.Context(), &index.Conversation{Key: "a"}, each([]index.Message{message}))
	if err := errors.Join(err, w.Commit(t.Context(), index.State{}, nil)); err != nil {
		t.Fatal(err)
	}
	v, err := x.View()
	if err != nil {
		t.Fatal(err)
	}
	for from := range text {
		for to := from + 1; to <= len(text); to++ {
			part, found := string(text[from:to]), 0
			for _, err := range v.Search(t.Context(), query(part)) {
				if err != nil {
					t.Fatal(err)
				}
				found++
			}
			if found != 1 {
				t.Errorf("%q is found in %d messages", part, found)
			}
		}
	}
}

func drawQuery(t *rapid.T, m model) index.Query {
	q := index.Query{Filter: index.Filter{Kinds: 31}, Text: drawText(t, 4, "query"), TextOnly: rapid.IntRange(0, 3).Draw(t, "text only") == 0}
	if keys := slices.Sorted(maps.Keys(m)); len(keys) > 0 && rapid.Bool().Draw(t, "there") {
		c := m[rapid.SampledFrom(keys).Draw(t, "conversation")]
		text := []rune(c.Title)
		if len(c.messages) > 0 {
			text = []rune(string(rapid.SampledFrom(c.messages).Draw(t, "message").Text))
		}
		if len(text) > 0 {
			from := rapid.IntRange(0, len(text)-1).Draw(t, "from")
			q.Text = string(text[from:rapid.IntRange(from, len(text)).Draw(t, "to")])
			if rapid.Bool().Draw(t, "upper") {
				q.Text = strings.ToUpper(q.Text)
			}
		}
	}
	q.Has = func(text []byte) bool { return contains(string(text), q.Text) }
	if rapid.Bool().Draw(t, "kinds") {
		q.Kinds = uint64(rapid.IntRange(0, 31).Draw(t, "kind"))
	}
	moment := func(label string) (at time.Time) {
		if n := rapid.IntRange(-9, 6).Draw(t, label); n > -5 {
			at = time.Unix(int64(n), int64(rapid.IntRange(0, 1).Draw(t, label))).UTC()
		}
		return at
	}
	q.Since, q.Until = moment("since"), moment("until")
	if rapid.IntRange(0, 3).Draw(t, "wanted") == 0 {
		q.Wanted = func(key string) bool { return key < "d" && len(key)%2 == 1 }
	}
	return q
}

func compare(t *rapid.T, v *index.View, m model, q index.Query) {
	want := m.search(&q)
	if diff := gocmp.Diff(want, searched(t, v, q)); diff != "" {
		t.Fatalf("%q: %s", q.Text, diff)
	}
	if len(want) > 0 {
		f := want[rapid.IntRange(0, len(want)-1).Draw(t, "after")]
		q.After = &index.Position{Time: f.Time, Order: m[f.Key].Order, Key: f.Key, Number: f.Number}
		if diff := gocmp.Diff(m.search(&q), searched(t, v, q)); diff != "" {
			t.Fatalf("%q after %v: %s", q.Text, q.After, diff)
		}
	}
	for key, c := range m {
		got := v.Lookup(key)
		if got == nil {
			t.Fatalf("%s is not there", key)
		}
		if got.Version != c.Version || got.Title != c.Title || string(got.Facts) != string(c.Facts) || got.Messages != len(c.messages) {
			t.Fatalf("%s: %+v, want %+v", key, got, c)
		}
	}
	if conversations := len(v.Conversations); conversations != len(m) {
		t.Fatalf("%d conversations, want %d", conversations, len(m))
	}
}
