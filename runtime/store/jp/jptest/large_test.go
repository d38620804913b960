package jptest_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

func TestLarge(t *testing.T) {
	t.Parallel()
	const size, conversations = 3_000_000, 30
	var written [2]map[string]string
	for i := range written {
		dir := t.TempDir()
		if err := jptest.Large(dir, size, conversations); err != nil {
			t.Fatal(err)
		}
		written[i] = tree(t, dir)
	}
	if !cmp.Equal(written[0], written[1]) {
		t.Error("the same call gave other files")
	}
	events, files := 0, 0
	for name, data := range written[0] {
		if filepath.Base(name) == "events.json" {
			files++
			events += len(data)
		}
	}
	if files != conversations || events < size*9/10 || events > size*11/10 {
		t.Errorf("%d bytes of events in %d conversations, want about %d in %d", events, files, size, conversations)
	}
}
