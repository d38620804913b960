package history

import (
	"strings"
	"testing"
)

// Each record is "id parent"; the live ones are named by their ids, and by their places if they have none.
func TestBranch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ log, want string }{
		"a chain":                  {"a -,b a,c b", "a b c"},
		"a branch that is dead":    {"a -,b a,c b,d a,e d", "a d e"},
		"a branch that is revived": {"a -,b a,c a,d b", "a b d"},
		"another beginning":        {"a -,b a,c -,d c", "c d"},
		"an unknown parent":        {"a -,b a,c x,d c", "a b c d"},
		"its own parent":           {"a -,b b,c b", "a b c"},
		"a later parent":           {"a -,b c,c b", "a b c"},
		"an id again":              {"a -,b a,a b,c b", "a b c"},
		"no ids":                   {"- -,- -,- -", "- - -"},
		"nothing":                  {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b Branch[string]
			for record := range strings.SplitSeq(test.log, ",") {
				if id, parent, ok := strings.Cut(record, " "); ok {
					b.Add(strings.Trim(id, "-"), strings.Trim(parent, "-"), id)
				}
			}
			if got := strings.Join(b.Live(), " "); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
