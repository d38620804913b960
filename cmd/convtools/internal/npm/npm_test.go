package npm_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/cmd/convtools/internal/npm"
)

// Where there is no npm, that is an error, and nothing is taken for installed.
func TestWithoutNPM(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "packages")
	t.Setenv("PATH", "")
	for range 2 {
		if err := npm.Install(t.Context(), dir, map[string]string{"opencode-ai": "1.0.0"}); err == nil {
			t.Error("it is installed")
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "installed.json")); !os.IsNotExist(err) {
		t.Errorf("it is noted as installed: %v", err)
	}
}
