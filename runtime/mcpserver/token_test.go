package mcpserver_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/mcpserver"
)

func TestReadToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		text string
		mode os.FileMode
		want string // of the error
	}{
		"good":          {"0123456789abcdef\n", 0o600, ""},
		"read only":     {"0123456789abcdef\r\n", 0o400, ""},
		"for the group": {"0123456789abcdef", 0o640, "is not only yours (mode 0640): run chmod 600 on it"},
		"group writes":  {"0123456789abcdef", 0o620, "is not only yours (mode 0620)"},
		"empty":         {"", 0o600, "is empty"},
		"blank":         {" \n\n", 0o600, "is empty"},
		"short":         {"0123456789abcde", 0o600, "a token of 15 characters; at least 16"},
		"two lines":     {"0123456789abcdef\n0123456789abcdef", 0o600, "one line of visible ASCII"},
		"not ASCII":     {"0123456789abcdéf", 0o600, "one line of visible ASCII"},
		"huge":          {strings.Repeat("a", 5000), 0o600, "longer than 4096 bytes"},
		"for everybody": {"0123456789abcdef", 0o644, "is not only yours (mode 0644): run chmod 600 on it"},
		"to write to":   {"0123456789abcdef", 0o602, "is not only yours"},
	} {
		if runtime.GOOS == "windows" && strings.Contains(tc.want, "not only yours") {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, tc.mode); err != nil {
			t.Fatal(err)
		}
		token, err := mcpserver.ReadToken(path)
		switch {
		case tc.want == "" && (err != nil || token != mcpserver.NewToken("0123456789abcdef")):
			t.Errorf("%s: %v", name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || token.IsSet()):
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
	if _, err := mcpserver.ReadToken(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := mcpserver.ReadToken(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}
