package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/configedit"
)

// AddDirectory adds dir to the list of a kind of store in [stores.directories] of the user's file, and leaves the rest
// of the file as it is. It returns the file's name for messages, or "" if the list has dir already. The error is an
// [*Error] if a problem disables [stores], or if the file has to be changed by hand.
func AddDirectory(getenv func(string) string, kind, dir string) (file string, err error) {
	path, file := userFile(getenv)
	if path == "" {
		return "", errors.New("it is not known where the configuration is: there is no home directory")
	}
	c := readUser(getenv)
	if err := c.Wrong("stores"); err != nil || slices.Contains(c.Stores.Directories[kind], dir) {
		return "", err
	}
	src, err := safefile.Read(path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	table, dirs := []string{"stores", "directories"}, []string{}
	entry, _, _ := configedit.Get(configedit.TOML, src, table) // configedit.Set returns the same error
	existing, _ := entry[kind].([]any)
	for _, d := range existing {
		dirs = append(dirs, fmt.Sprint(d))
	}
	src, err = configedit.Set(configedit.TOML, src, table, []configedit.Member{{Key: kind, Value: append(dirs, dir)}})
	if err != nil {
		hint := fmt.Sprintf("add %q to %s in [stores.directories]", dir, kind)
		return "", &Error{[]Problem{{Diagnostic: diag.Diagnostic{File: file, Message: err.Error(), Hint: hint}}}}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return file, safefile.Write(path, src, 0o600)
}
