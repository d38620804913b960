package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/configedit"
)

// AddDirectory adds a directory to those of a kind of store in [stores.directories] of the user's file, and leaves the rest
// of the file as it is. It returns the name of the file in messages, and reports whether the directory was not there. The
// error is an [*Error] if the file has to be changed by hand.
func AddDirectory(getenv func(string) string, kind, dir string) (file string, added bool, err error) {
	path, name, ok := UserFile(getenv)
	if !ok {
		return "", false, errors.New("it is not known where the configuration is: there is no home directory")
	}
	c := readUser(getenv)
	if err := c.Wrong("stores"); err != nil || slices.Contains(c.Stores.Directories[kind], dir) {
		return name, false, err
	}
	src, err := safefile.Read(path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return name, false, err
	}
	table, dirs := []string{"stores", "directories"}, []string{}
	entry, _, err := configedit.Get(configedit.TOML, src, table)
	have, _ := entry[kind].([]any)
	for _, written := range have {
		dirs = append(dirs, fmt.Sprint(written))
	}
	if err == nil {
		src, err = configedit.Set(configedit.TOML, src, table, []configedit.Member{{Key: kind, Value: append(dirs, dir)}})
	}
	if err != nil {
		hint := fmt.Sprintf("add %s to %s in [stores.directories]", strconv.Quote(dir), kind)
		return name, false, &Error{[]Problem{{Diagnostic: diag.Diagnostic{File: name, Message: err.Error(), Hint: hint}}}}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return name, false, err
	}
	return name, true, safefile.Write(path, src, 0o600)
}
