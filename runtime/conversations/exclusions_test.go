package conversations

import (
	"testing"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store/filecache"
)

// Cached values that were saved for other exclusions are not used.
func TestCacheOfOtherExclusions(t *testing.T) {
	t.Parallel()
	x := NewIndexes(t.TempDir())
	for _, exclusions := range []string{"", "other"} {
		saved := filecache.New(func() []byte { return nil })
		saved.Put("key", []byte("title"))
		w, err := x.openOrReplace(&settings{}, indexName("jp", "/place"), nil).Write(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Without its own beginning all of it would be read as values.
		if err := w.Commit(t.Context(), index.State{}, saved.Append(nil)); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if got := x.cache(&settings{exclusions: exclusions}, "jp", "/place").Get("key"); got != nil {
			t.Errorf("%q is cached for exclusions %q", got, exclusions)
		}
	}
}
