package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/configedit"
)

// AddDirectory adds a directory to those of a kind of store in the user's configuration
// file, whose name in messages it returns, and reports whether it was not there. What else
// stands in the file stays as it is. The error is an [*Error] where that cannot be done.
func AddDirectory(getenv func(string) string, kind, dir string) (file string, added bool, err error) {
	path, name, ok := UserFile(getenv)
	if !ok {
		return "", false, failure("the configuration", "it is not known where it is: there is no home directory")
	}
	src, err := safefile.Read(path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return name, false, failure(name, err.Error())
	}
	changed, err := withDirectory(src, kind, dir, Home(getenv))
	switch {
	case err != nil:
		return name, false, failure(name, fmt.Sprintf("%v; add %s to %s in [stores.directories]", err, strconv.Quote(dir), kind))
	case changed == nil:
		return name, false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return name, false, err
	}
	return name, true, safefile.Write(path, changed, 0o600)
}

func failure(file, message string) error {
	return &Error{Problems: []Problem{{Diagnostic: diag.Diagnostic{File: file, Message: message}}}}
}

// withDirectory returns a document with a directory among those of a kind of store, or nil
// where it is one of them.
func withDirectory(src []byte, kind, dir, home string) ([]byte, error) {
	table := []string{"stores", "directories"}
	entry, _, err := configedit.Get(configedit.TOML, src, table)
	if err != nil {
		return nil, err
	}
	have, isArray := entry[kind].([]any)
	if entry[kind] != nil && !isArray {
		return nil, fmt.Errorf("%s is not an array", kind)
	}
	var dirs []string
	for _, item := range have {
		text, _ := item.(string)
		if expanded, _ := Expand(text, home); expanded == dir {
			return nil, nil
		}
		dirs = append(dirs, text)
	}
	return configedit.Set(configedit.TOML, src, table, []configedit.Member{{Key: kind, Value: append(dirs, dir)}})
}
