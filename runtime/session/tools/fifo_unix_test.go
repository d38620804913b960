//go:build unix

package tools

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/convtools/convtools/runtime/session"
)

// A FIFO keeps nobody waiting.
func TestFIFO(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	if err := syscall.Mkfifo(filepath.Join(l.dir, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	for _, arguments := range []string{
		`{"user_instruction":"go","base_instruction_file":"pipe"}`,
		`{"items":[{"type":"local_image","path":"pipe"}]}`,
	} {
		if refused := l.prepare(t, "conv.create", arguments).Refused; refused == nil || refused.Code != session.CodeUnreadableFile {
			t.Errorf("%s: %+v", arguments, refused)
		}
	}
}
