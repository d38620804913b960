package conversationcli

import (
	"bytes"
	"testing"
	"time"
)

// TestProgress checks that nothing is shown in the first second, one line each 200 milliseconds
// after that, and none at the end.
func TestProgress(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	clock := func() time.Time { return now }
	if newProgress(&out, clock)("where there is no terminal"); out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
	show := progress(&out, clock)
	for done := range 2001 {
		show(indexed("codex", done, 2000))
		now = now.Add(time.Millisecond)
	}
	want := ""
	for _, done := range []string{"1,000", "1,200", "1,400", "1,600", "1,800"} {
		want += "\r\x1b[Kreading codex: " + done + " of 2,000 conversations"
	}
	if got := out.String(); got != want+"\r\x1b[K" {
		t.Errorf("%q", got)
	}
	if show(""); out.Len() != len(want)+len("\r\x1b[K") {
		t.Errorf("cleared again: %q", out.String())
	}
}
