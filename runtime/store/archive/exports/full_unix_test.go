//go:build unix

package exports_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive/exports"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
)

// fileSize limits how large a file can be that the test program writes when it imports.
const fileSize = "EXPORTS_TEST_FILE_SIZE"

func limitFiles() {
	most, err := strconv.ParseUint(os.Getenv(fileSize), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // writing fails, as it does where a disk is full
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
	limit.Cur = most
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
}

// Where there is no room for more, what was imported is whole and stays, and the rest follows
// when there is.
func TestFull(t *testing.T) {
	t.Parallel()
	const conversations, size = 60, 50_000
	var items []object
	for i := range conversations {
		items = append(items, conversation(fmt.Sprint("c", i), strings.Repeat("x", size)))
	}
	path := write(t, filepath.Join(t.TempDir(), "conversations.json"), array(items...))
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for most, some := range map[int]bool{4096: false, 512 << 10: true, 3 << 19: true} {
		h := newHome(t)
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = append(os.Environ(), importOf+"="+path+"\n"+h.dir, fileSize+"="+strconv.Itoa(most))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), "archive") {
			t.Errorf("%d bytes: %v, %s", most, err, &stderr)
		}
		// Nothing at all may be there, not even the tables.
		found := 0
		if list, problems := storetest.List(t, h.store(), store.Live); len(problems) == 0 {
			found = len(list)
			for _, c := range list {
				if text := storetest.Said(t, c); len(text) != len("1 user: \n")+size {
					t.Errorf("%d bytes: %s has %d characters", most, c.ID, len(text))
				}
			}
		} else {
			t.Errorf("%d bytes: %v", most, problems)
		}
		if some != (found > 0) {
			t.Errorf("%d bytes: %d conversations are there", most, found)
		}
		want := fmt.Sprintf("new %d, updated 0, unchanged %d, skipped 0, failed 0", conversations-found, found)
		if got := summary(h.add(path, exports.Options{})); got != want {
			t.Errorf("%d bytes: %s, want %s", most, got, want)
		}
	}
}
