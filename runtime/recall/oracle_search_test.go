package recall_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	visible "github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// searched is a command line that prints hits, and the oracle of what an answer
// has to show of them.
type searched struct {
	hits    []string
	summary string
}

func (s *searched) Run(context.Context, process.Command) (process.Result, error) {
	return process.Result{Stdout: []byte(listed(slices.Clone(s.hits), s.summary))}, nil
}

func TestGrepAgainstOracle(t *testing.T) {
	t.Parallel()
	truncated := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		type line struct {
			id, text string
			turn     int
			match    bool
		}
		var lines []line
		var s searched
		var conversations []string
		perConversation := map[string]int{}
		length := []int{5, 60, 390, 2000}[r.IntN(4)]
		context := r.IntN(3)
		matches := 0
		for c := range 1 + r.IntN(6) {
			id := fmt.Sprintf("jp-c%d", 17000000000-c)
			for event := range 1 + r.IntN(20) {
				for n := range 1 + 2*context {
					l := line{id, randomText(r, r.IntN(length)), event + 1, n == context}
					lines = append(lines, l)
					s.hits = append(s.hits, hit(id, l.turn, "user", l.text, l.match, event, n+1, ""))
					if l.match {
						matches++
						perConversation[id]++
					}
				}
			}
			conversations = append(conversations, fmt.Sprintf(`{"id":%q,"matches":%d,"turns":99}`, id, perConversation[id]))
		}
		extra := r.IntN(2) * 7
		s.summary = fmt.Sprintf(`{"matches":%d,"returned":%d,"searched":50,"conversations":[%s],"conversations_matched":%d,"excluded":[],"skipped":[]}`,
			matches+extra, matches, strings.Join(conversations, ","), len(conversations))
		answer, err := conversation.Call(t.Context(), over(&s), contract.Call{
			Tool: "conversation_grep", Arguments: []byte(fmt.Sprintf(`{"pattern":"x","context":%d,"limit":200}`, context)),
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		root := check(t, "conversation_grep", answer)
		at, returned := 0, 0
		for _, c := range root.all("conversation") {
			if c.attr("matches") != strconv.Itoa(perConversation[c.attr("id")]) {
				t.Errorf("seed %d: %s: matches=%s", seed, c.attr("id"), c.attr("matches"))
			}
			for _, h := range c.all("hit") {
				want := lines[at]
				shown := visible.Line(want.text)
				if utf8.RuneCountInString(want.text) > 410 {
					if h.attr("chars") != strconv.Itoa(utf8.RuneCountInString(want.text)) {
						t.Errorf("seed %d: chars=%q", seed, h.attr("chars"))
					}
					shown = h.Text
				}
				if h.attr("id") != want.id || h.attr("id") != c.attr("id") || h.attr("turn") != strconv.Itoa(want.turn) || h.attr("is_match") != strconv.FormatBool(want.match) || h.Text != shown {
					t.Fatalf("seed %d: hit %d: %+v, want %+v", seed, at, h, want)
				}
				if want.match {
					returned++
				}
				at++
			}
		}
		if got := root.attr("returned"); got != strconv.Itoa(returned) {
			t.Errorf("seed %d: returned=%s, want %d", seed, got, returned)
		}
		if got := root.attr("matches"); got != strconv.Itoa(matches+extra) {
			t.Errorf("seed %d: matches=%s, want %d", seed, got, matches+extra)
		}
		if got := root.attr("truncated"); got != strconv.FormatBool(returned < matches+extra) {
			t.Errorf("seed %d: truncated=%s", seed, got)
		}
		if returned < matches {
			truncated++
			if n := utf8.RuneCountInString(answer); n < conversation.GrepMaxChars*7/10 {
				t.Errorf("seed %d: cut off at %d characters", seed, n)
			}
			if at > 0 && !lines[at-1].match && at%(1+2*context) != 0 && at%(1+2*context) <= context {
				t.Errorf("seed %d: ends with context of a match that is not shown", seed)
			}
		} else if at != len(lines) && !strings.Contains(answer, fmt.Sprintf("<note>%d line", len(lines)-at)) {
			t.Errorf("seed %d: %d of %d lines, and no note says so", seed, at, len(lines))
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if truncated < 5 {
		t.Errorf("only %d answers hit the cap", truncated)
	}
}

func TestListAgainstOracle(t *testing.T) {
	t.Parallel()
	capped := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		limit, offset := 1+r.IntN(100), r.IntN(30)
		total := r.IntN(400)
		length := []int{0, 30, 290, 290, 3000}[r.IntN(5)]
		var records, titles []string
		for i := offset; i < min(total, offset+limit); i++ {
			title := randomText(r, length)
			titles = append(titles, title)
			records = append(records, row(fmt.Sprintf("jp-c%d", i), title, ""))
		}
		s := searched{records, fmt.Sprintf(`{"total":%d,"skipped":[],"excluded":[]}`, total)}
		answer, err := conversation.Call(t.Context(), over(&s), contract.Call{
			Tool: "conversation_list", Arguments: []byte(fmt.Sprintf(`{"limit":%d,"offset":%d}`, limit, offset)),
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		root := check(t, "conversation_list", answer)
		got := root.all("conversation")
		for i, c := range got {
			title := ""
			if e := c.all("title"); len(e) > 0 {
				title = e[0].Text
			}
			want := visible.Line(titles[i])
			if utf8.RuneCountInString(titles[i]) > 300 {
				want = title
			}
			if c.attr("id") != fmt.Sprintf("jp-c%d", offset+i) || title != want {
				t.Fatalf("seed %d: row %d: %s %.80q, want %.80q", seed, i, c.attr("id"), title, want)
			}
		}
		more := offset+len(got) < total && len(got) > 0
		if root.attr("total") != strconv.Itoa(total) || root.attr("count") != strconv.Itoa(len(got)) || root.attr("has_more") != strconv.FormatBool(more) {
			t.Errorf("seed %d: total=%s count=%s has_more=%s", seed, root.attr("total"), root.attr("count"), root.attr("has_more"))
		}
		if more && root.attr("next_offset") != strconv.Itoa(offset+len(got)) {
			t.Errorf("seed %d: next_offset=%s", seed, root.attr("next_offset"))
		}
		if len(got) < len(records) {
			capped++
			if n := utf8.RuneCountInString(answer); n < conversation.ListMaxChars*9/10 {
				t.Errorf("seed %d: cut off at %d characters", seed, n)
			}
		}
	}
	if capped < 3 {
		t.Errorf("only %d answers hit the cap", capped)
	}
}
