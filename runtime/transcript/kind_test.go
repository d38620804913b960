package transcript_test

import (
	"testing"

	"github.com/convtools/convtools/runtime/transcript"
)

func TestIsTool(t *testing.T) {
	t.Parallel()
	for recorded, want := range map[string]bool{
		"grep": true, "mcp__x__grep": true, "x.grep": true, "x/grep": true, "x:grep": true, "x-grep": true, "_grep": true,
		"": false, "egrep": false, "grep_all": false, "Grep": false, "x grep": false, "gre": false, "é": false, "égrep": false,
	} {
		if got := transcript.IsTool(recorded, "grep"); got != want {
			t.Errorf("%q: %t", recorded, got)
		}
	}
}
