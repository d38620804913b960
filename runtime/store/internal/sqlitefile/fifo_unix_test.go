//go:build unix

package sqlitefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// A FIFO in the place of a database, or of a file beside it, keeps nobody waiting.
func TestFIFO(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", "-wal", "-journal"} {
		dir := t.TempDir()
		if suffix != "" {
			own(t, "PRAGMA wal_checkpoint(TRUNCATE)").copyTo(dir, name)
		}
		if err := syscall.Mkfifo(filepath.Join(dir, name+suffix), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, dir); !errors.Is(err, safefile.ErrNotRegular) {
			t.Errorf("%q: %v", suffix, err)
		}
		if _, err := sqlitefile.Version(filepath.Join(dir, name)); !errors.Is(err, safefile.ErrNotRegular) {
			t.Errorf("version, %q: %v", suffix, err)
		}
	}
	// A link beside a database that leads out of its directory is not followed.
	dir := t.TempDir()
	o := own(t, "INSERT INTO t VALUES (1, 'one')")
	o.copyTo(dir, name)
	if err := os.Symlink(filepath.Join(o.dir, name+"-wal"), filepath.Join(dir, name+"-wal")); err != nil {
		t.Fatal(err)
	}
	if db, err := open(t, dir); err == nil {
		t.Errorf("a log elsewhere: %q", mustRows(t, db))
	}
}
