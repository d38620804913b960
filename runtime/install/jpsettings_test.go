package install_test

import (
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/install"
)

// A program without skills asks for no place where JP finds them.
func TestJPSettingsWithoutSkills(t *testing.T) {
	t.Parallel()
	definition := contract.File{Path: ".jp/mcp/tools/git/log.toml"}
	skill := contract.File{Path: ".jp/config/skill/git.toml"}
	for _, tc := range []struct {
		name  string
		files []contract.File
		want  bool
	}{
		{"no skill", []contract.File{definition}, false},
		{"a skill", []contract.File{definition, skill}, true},
	} {
		lacks, sure := install.JPSettings(install.Options{Project: t.TempDir(), JPFiles: tc.files})
		got := strings.Contains(strings.Join(lacks, " "), "config_load_paths")
		if got != tc.want || !sure || !strings.Contains(lacks[0], "extends") {
			t.Errorf("%s: %q, sure %v", tc.name, lacks, sure)
		}
	}
}
