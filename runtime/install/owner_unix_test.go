//go:build unix

package install

import (
	"io/fs"
	"testing"
)

func TestWithoutGroup(t *testing.T) {
	t.Parallel()
	for mode, want := range map[fs.FileMode]fs.FileMode{
		0o600: 0o600,
		0o640: 0o600, // the group that it gets instead is not to read it
		0o660: 0o600,
		0o604: 0o600, // the group that it had is not to read it
		0o644: 0o644, // everybody may read it
		0o664: 0o644,
		0o646: 0o644,
		0o755: 0o755,
	} {
		if got := withoutGroup(mode); got != want {
			t.Errorf("%04o becomes %04o, want %04o", mode, got, want)
		}
	}
}
