package recall

import (
	"strings"
	"testing"
)

func TestSkippedNamesNoPath(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		skipped skipped
		want    string
	}{
		{skipped{Reason: "/home/jane/work/.jp/conversations: the store cannot be opened: permission denied"}, "conversations: the store cannot be opened: permission denied"},
		{skipped{ID: "jp-c1", Reason: "events.json is missing in /home/jane/work/.jp/conversations/17-x"}, "jp-c1 (events.json is missing in 17-x)"},
		// The path goes before the text is cut, lest half of it stays.
		{skipped{Reason: "/" + strings.Repeat("d/", 200) + "x: gone"}, "x: gone"},
	} {
		if got := tc.skipped.String(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
