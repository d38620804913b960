package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/config"
)

func TestAddDirectory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after string }{
		"an empty file":        {"", "[stores.directories]\njp = [\"/w\"]\n"},
		"another table":        {"[trust]\ndirectories = [\"/x\"] # mine", "[trust]\ndirectories = [\"/x\"] # mine\n\n[stores.directories]\njp = [\"/w\"]\n"},
		"stores":               {"[stores]\noff = [\"codex\"]\n", "[stores]\noff = [\"codex\"]\n\n[stores.directories]\njp = [\"/w\"]\n"},
		"dotted keys":          {"[stores]\ndirectories.codex = [\"/c\"]\n", "add \"/w\" to jp in [stores.directories]"},
		"directories":          {"[stores.directories] # more\ncodex = [\"/c\"]\n", "[stores.directories] # more\ncodex = [\"/c\"]\njp = [\"/w\"]\n"},
		"one there":            {"[stores.directories]\njp = [\"/a\"] # one\n", "[stores.directories]\njp = [\"/a\", \"/w\"] # one\n"},
		"a comma at the end":   {"[stores.directories]\njp = [\n  \"/a\",\n]\n", "[stores.directories]\njp = [\"/a\", \"/w\"]\n"},
		"a comment inside":     {"[stores.directories]\njp = [\n  \"/a\", # old\n]\n", "stores.directories.jp may have comments"},
		"none there":           {"[stores.directories]\njp = []\n", "[stores.directories]\njp = [\"/w\"]\n"},
		"there already":        {"[stores.directories]\njp = [\"/w/\"]\n", ""},
		"in an inline table":   {"stores = {off = []}\n", "add \"/w\" to jp in [stores.directories]"},
		"what is no TOML":      {"[stores", "expected"},
		"a wrong kind of jp":   {"[stores.directories]\njp = \"/a\"\n", "has to be a table of arrays of strings"},
		"an array that is not": {"[stores]\ndirectories = 1\n", "has to be a table of arrays of strings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newLab(t)
			u.setting(c.before)
			path := filepath.Join(u.home, ".config", "convtools", "convtools.toml")
			file, err := config.AddDirectory(u.getenv, "jp", filepath.FromSlash("/w"))
			now, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			var wrong *config.Error
			if errors.As(err, &wrong) {
				if !strings.Contains(err.Error(), c.after) || string(now) != c.before {
					t.Errorf("%v; %s", err, now)
				}
				return
			}
			if c.after == "" {
				c.after = c.before
			}
			if diff := cmp.Diff(c.after, string(now)); diff != "" || err != nil || (file != "") != (c.after != c.before) {
				t.Errorf("%s %v %v", diff, file, err)
			}
		})
	}
}

func TestAddDirectoryWithoutHome(t *testing.T) {
	t.Parallel()
	file, err := config.AddDirectory(func(string) string { return "" }, "jp", filepath.FromSlash("/w"))
	if file != "" || err == nil || !strings.Contains(err.Error(), "there is no home directory") {
		t.Errorf("%q, %v", file, err)
	}
}
