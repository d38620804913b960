package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each case plays a script (see script) and compares the whole trace.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		config Config
		script string
		want   string
	}{
		{
			name:   "S-3 S-11 S-70 S-90 create replaces, runs the target and continues with its message",
			script: `create hello`,
			want: `
				0 starts
				0 hears: go
				0 calls k1 conv.create
				0 replaced
				1 opened by 0
				1 starts
				1 hears 0: hello
				1 says: end
				1 complete
				0 continues k1
				0 gets k1 1 completed: end
				0 says: end
				0 complete`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := play(t, test.config, dedent(test.script)...)
			if diff := cmp.Diff(dedent(test.want), got); diff != "" {
				t.Errorf("trace (-want +got):\n%s", diff)
			}
		})
	}
}
