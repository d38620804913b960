package recall_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/cases"
	visible "github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
)

func TestListAgainstOracle(t *testing.T) {
	t.Parallel()
	capped := 0
	for seed := range cases.Of(uint64(20)) {
		r := rand.New(rand.NewPCG(seed, 3))
		limit, offset := 1+r.IntN(100), r.IntN(30)
		total := r.IntN(400)
		length := []int{0, 30, 290, 290, 3000}[r.IntN(5)]
		var records, titles []string
		for i := range total {
			title := randomText(r, length)
			titles = append(titles, title)
			records = append(records, row(fmt.Sprintf("jp-c%d", 1000+i), title, ""))
		}
		answer, err := conversation.Call(t.Context(), over(&cli{ls: listed(records...)}), contract.Call{
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
			want := visible.Line(titles[offset+i])
			if utf8.RuneCountInString(titles[offset+i]) > 300 {
				want = title
			}
			if c.attr("id") != fmt.Sprintf("jp-c%d", 1000+offset+i) || title != want {
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
		if len(got) < min(limit, total-offset) {
			capped++
			if n := utf8.RuneCountInString(answer); n < conversation.ListMaxChars*9/10 {
				t.Errorf("seed %d: cut off at %d characters", seed, n)
			}
		}
	}
	if capped < 2 {
		t.Errorf("only %d answers hit the cap", capped)
	}
}
