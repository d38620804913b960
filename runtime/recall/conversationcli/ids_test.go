package conversationcli

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

func TestWithPrefix(t *testing.T) {
	t.Parallel()
	const session = "5afd8764-1e4a-4af6-951b-d71a909fd1bc"
	list := forest("jp-c176 jp-c17600000000 jp-c17600000001 claude-" + session + " claude-" + session + ".side claude-" + session + ".a7b codex-01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f opencode-ses_e0Ab")
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{".side", ""},
		{"9", ""},
		{"jp-d", ""},
		{"176", "jp-c176"},
		{"1760", "jp-c17600000000 jp-c17600000001"},
		{"jp-c17600000001", "jp-c17600000001"},
		{"5a", "claude-" + session},
		{"CLAUDE-5A", "claude-" + session},
		{"5a.", "claude-" + session},
		{"5a.s", "claude-" + session + ".side"},
		{"5afd8764.a7", "claude-" + session + ".a7b"},
		{session, "claude-" + session},
		{"cod", "codex-01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f"},
		{"ses_e0", "opencode-ses_e0Ab"},
	} {
		var got []string
		for _, l := range withPrefix(list, test.text) {
			got = append(got, string(l.ID))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

// TestShortIDsLeadBack checks with random ids that each short id begins one conversation.
func TestShortIDsLeadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hex := rapid.StringOfN(rapid.RuneFrom([]rune("01aF")), 12, 12, -1)
		var list []conversations.Listed
		seen := map[string]bool{}
		for i := range rapid.IntRange(1, 20).Draw(t, "n") {
			id := "claude-" + fmt.Sprintf("%s-1e4a-4af6-951b-%s", hex.Draw(t, "first")[:8], hex.Draw(t, "last"))
			if i%3 == 0 {
				id = "jp-c1770" + rapid.StringOfN(rapid.RuneFrom([]rune("01")), 7, 7, -1).Draw(t, "jp")
			}
			for _, id := range []string{id, id + "." + hex.Draw(t, "part")}[:1+i%2*min(i%3, 1)] {
				if id = strings.ToLower(id); !seen[id] {
					seen[id] = true
					list = append(list, conversations.Listed{Conversation: transcript.Conversation{ID: transcript.ID(id)}})
				}
			}
		}
		c := &commands{out: &output{terminal: true, pretty: true}}
		short := c.shortIDs(list)
		for _, l := range list {
			shown := short(l.ID)
			if found := withPrefix(list, shown); len(found) != 1 || found[0].ID != l.ID || len(shown) < shortID || strings.Contains(shown, "claude") {
				t.Fatalf("%s is shown as %q, which begins %v", l.ID, shown, found)
			}
		}
	})
}

// TestRowsFit checks with random cells that no row is wider than a terminal of 80 columns.
func TestRowsFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cell := func(most int) string {
			return strings.Repeat("潮", rapid.IntRange(0, most).Draw(t, "wide")) + strings.Repeat("x", rapid.IntRange(1, most).Draw(t, "narrow"))
		}
		rows := [][]string{{"ID", "PROGRAM", "EVENTS", "ACTIVITY", "FLAGS", "PROJECT", "TITLE"}}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			rows = append(rows, []string{"12345678", "convtools", "123456", "2026-01-01", cell(30), cell(30), cell(300)})
		}
		for _, line := range strings.Split(written(80, rows), "\n") {
			if text.Width(line) > 80 {
				t.Fatalf("%d columns: %s", text.Width(line), line)
			}
		}
	})
}

// written returns a table on a terminal of a width.
func written(width int, rows [][]string) string {
	var b strings.Builder
	o := &output{terminal: true, pretty: true, width: width, to: bufio.NewWriter(&b)}
	o.table(false, rows)
	_ = o.flush()
	return b.String()
}
