package index_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/index/terms"
)

// termsOf counts the terms of a text.
func termsOf(text string) map[string]int {
	counts := map[string]int{}
	terms.NewReader(terms.English).Each([]byte(text), func(term []byte, _ int) { counts[string(term)]++ })
	return counts
}

// having is a scored message as the tests compare it.
type having struct {
	Key    string
	Number uint32
	Kind   uint8
	Time   time.Time
}

func once(uint8) float32 { return 1 }

func compareHaving(a, b having) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Number, b.Number))
}

// rank returns the expected messages with terms of a query.
func (m model) rank(q *index.RankQuery) []having {
	list := []having{}
	for _, c := range m {
		if q.Wanted != nil && !q.Wanted(c.Key) {
			continue
		}
		for _, msg := range c.messages {
			isDated := q.Since.IsZero() && q.Until.IsZero() || !msg.Time.IsZero()
			if !isDated || !q.Since.IsZero() && msg.Time.Before(q.Since) || !q.Until.IsZero() && msg.Time.After(q.Until) || q.Kinds>>msg.Kind&1 == 0 {
				continue
			}
			counts := termsOf(string(msg.Text))
			rare := slices.ContainsFunc(q.Terms, func(term index.RankTerm) bool { return counts[term.Text] > 0 && !term.Common })
			if rare && (q.Excludes == nil || !q.Excludes(msg.Kind, msg.Extra)) {
				list = append(list, having{c.Key, msg.Number, msg.Kind, msg.Time})
			}
		}
	}
	slices.SortFunc(list, compareHaving)
	return list
}

// TestRank compares the scored messages with a naive search, after each of several changes.
func TestRank(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := index.InMemory()
		x.SetLimits(rapid.SampledFrom([]int{200, 1 << 20}).Draw(t, "segment"), rapid.SampledFrom([]int{3, 1000}).Draw(t, "messages"))
		m := model{}
		for step := range rapid.IntRange(1, 6).Draw(t, "steps") {
			change(t, x, m, step)
			v, err := x.View()
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				compareRank(t, v, m, drawRank(t, m))
			}
		}
	})
}

func drawRank(t *rapid.T, m model) index.RankQuery {
	like := drawQuery(t, m)
	q := index.RankQuery{Filter: like.Filter, Most: 1000, Average: 10, Counts: once}
	if rapid.Bool().Draw(t, "apart") {
		q.Excludes = func(kind uint8, extra []byte) bool { return kind == 1 && len(extra) > 3 }
	}
	for term := range termsOf(like.Text + " " + drawText(t, 9, "terms")) {
		q.Terms = append(q.Terms, index.RankTerm{Text: term, Weight: 1})
	}
	slices.SortFunc(q.Terms, func(a, b index.RankTerm) int { return cmp.Compare(a.Text, b.Text) })
	for i := range q.Terms {
		q.Terms[i].Common = rapid.IntRange(0, 3).Draw(t, "common") == 0
	}
	return q
}

func compareRank(t *rapid.T, v *index.View, m model, q index.RankQuery) {
	ranked, err := v.Rank(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	got := []having{}
	for _, r := range ranked {
		for _, msg := range r.Messages {
			text, extra, err := v.Read(msg)
			if want := m[r.Key].messages[msg.Number-1]; err != nil || string(text) != string(want.Text) || string(extra) != string(want.Extra) {
				t.Fatalf("%s %d: %q, %q, %v, want %+v", r.Key, msg.Number, text, extra, err, want)
			}
			if msg.Score == 0 {
				continue
			}
			got = append(got, having{r.Key, msg.Number, msg.Kind, msg.Time})
		}
		if len(r.Messages) != len(m[r.Key].messages) {
			t.Fatalf("%s has %d messages, want %d", r.Key, len(r.Messages), len(m[r.Key].messages))
		}
	}
	slices.SortFunc(got, compareHaving)
	if diff := gocmp.Diff(m.rank(&q), got); diff != "" {
		t.Fatalf("%+v (-want +got):\n%s", q.Terms, diff)
	}
	compareBest(t, v, q, ranked)
	for _, term := range q.Terms {
		alone := q
		alone.Terms = []index.RankTerm{{Text: term.Text, Weight: 1}}
		there, err := v.Occurs(t.Context(), q, term.Text)
		if want := len(m.rank(&alone)) > 0; err != nil || there != want {
			t.Fatalf("%q occurs: %t, %v, want %t", term.Text, there, err, want)
		}
	}
}

// compareBest compares the result for a smaller Most with the beginning of all.
func compareBest(t *rapid.T, v *index.View, q index.RankQuery, all []index.Ranked) {
	last := float32(0)
	for i, r := range all {
		var best index.Best
		for _, m := range r.Messages {
			best.Add(m.Score)
		}
		if i > 0 && best.Sum() > last {
			t.Fatalf("conversation %d has the score %v, and the one before %v", i, best.Sum(), last)
		}
		last = best.Sum()
	}
	q.Most = rapid.IntRange(0, len(all)+1).Draw(t, "most")
	first, err := v.Rank(t.Context(), q)
	if err != nil || len(first) != min(q.Most, len(all)) {
		t.Fatalf("%d of %d conversations, %v, want %d", len(first), len(all), err, q.Most)
	}
	for i := range first {
		if first[i].Key != all[i].Key {
			t.Fatalf("conversation %d is %s, want %s", i, first[i].Key, all[i].Key)
		}
	}
}

// TestScore checks that a message ranks higher than another.
func TestScore(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("filler words of no meaning here ", 20)
	for _, tc := range []struct {
		name, better, worse string
		query               []string
	}{
		{"more of the words", "alpha beta", "alpha gamma", []string{"alpha", "beta"}},
		{"the rarer word", "rare one", "usual one", []string{"rare", "usual"}},
		{"often rather than once", "beta beta beta beta", "beta gamma delta eta", []string{"beta"}},
		{"short rather than long", "beta", "beta " + filler, []string{"beta"}},
		{"another form of the word", "caching things", "cabbage things", []string{"cach"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			x := index.InMemory()
			m := model{}
			for i, text := range []string{tc.worse, tc.better, "usual", "usual", "usual things", "other things"} {
				c := &indexed{Conversation: index.Conversation{Key: fmt.Sprint(i)}, messages: []index.Message{{Number: 1, Kind: 1, Text: []byte(text)}}}
				m[c.Key] = c
			}
			w, err := x.Write(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for _, c := range m {
				if err := w.Put(t.Context(), &c.Conversation, each(c.messages)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Commit(t.Context(), index.State{}, nil); err != nil {
				t.Fatal(err)
			}
			v, err := x.View()
			if err != nil {
				t.Fatal(err)
			}
			spread, err := v.Spread(tc.query)
			if err != nil || spread.Messages != len(m) {
				t.Fatalf("%+v, %v", spread, err)
			}
			q := index.RankQuery{Most: 10, Average: float64(spread.Bytes) / float64(spread.Messages), Filter: index.Filter{Kinds: 1 << 1}, Counts: once}
			for i, term := range tc.query {
				q.Terms = append(q.Terms, index.RankTerm{Text: term, Weight: index.Idf(spread.With[i], spread.Messages)})
			}
			ranked, err := v.Rank(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			scores := map[string]float32{}
			for _, r := range ranked {
				scores[r.Key] = r.Messages[0].Score
			}
			if scores["1"] <= scores["0"] {
				t.Errorf("%q has %v, %q has %v", tc.better, scores["1"], tc.worse, scores["0"])
			}
		})
	}
}

// TestManyTerms ranks by terms of a segment with more terms than 16 bits can number.
func TestManyTerms(t *testing.T) {
	t.Parallel()
	const words, count = 1000, 70
	x, messages := index.InMemory(), []index.Message{}
	for n := range count {
		text := "x65999 "
		for word := range words {
			text += fmt.Sprintf("x%05d ", n*words+word)
		}
		messages = append(messages, index.Message{Number: uint32(n + 1), Kind: 1, Text: []byte(text)})
	}
	w, err := x.Write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	c := index.Conversation{Key: "many"}
	if err := errors.Join(w.Put(t.Context(), &c, each(messages)), w.Commit(t.Context(), index.State{}, nil)); err != nil {
		t.Fatal(err)
	}
	v := mustView(t, x)
	if n := v.Info().Segments; n != 1 {
		t.Fatalf("%d segments, want 1", n)
	}
	for term, want := range map[string]int{"x00000": 1, "x65534": 1, "x65535": 1, "x69999": 1, "x65999": count} {
		ranked, err := v.Rank(t.Context(), index.RankQuery{
			Filter: index.Filter{Kinds: 1 << 1}, Most: 10, Average: 10, Counts: once,
			Terms: []index.RankTerm{{Text: term, Weight: 1}},
		})
		if err != nil || len(ranked) != 1 {
			t.Fatalf("%s: %v, %v", term, ranked, err)
		}
		got := 0
		for _, msg := range ranked[0].Messages {
			if msg.Score > 0 {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d messages, want %d", term, got, want)
		}
	}
}
