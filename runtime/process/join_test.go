package process_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/process"
)

func TestJoinCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{"convtools", "-k", "project/style/**"}, `convtools -k 'project/style/**'`},
		{[]string{"/usr/bin/a", "--b=c", ""}, `/usr/bin/a '--b=c' ''`},
		{[]string{"it's", "$HOME", "ä", "a b\tc\n"}, "'it'\\''s' '$HOME' 'ä' 'a b\tc\n'"},
	} {
		got := process.JoinCommand(tt.words...)
		if got != tt.want {
			t.Errorf("JoinCommand(%q) = %s, want %s", tt.words, got, tt.want)
		}
		if again, err := process.SplitCommand(got); err != nil || !cmp.Equal(again, tt.words) {
			t.Errorf("SplitCommand(%s) = %q, %v; want %q", got, again, err, tt.words)
		}
	}
}
