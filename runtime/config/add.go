package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/tomlpos"
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
		return name, false, failure(name, err.Error())
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
	want, err := decoded(src)
	if err != nil {
		return nil, err
	}
	stores := tableIn(want, "stores")
	directories := tableIn(stores, "directories")
	have, isArray := directories[kind].([]any)
	for _, item := range have {
		text, _ := item.(string)
		if expanded, _ := Expand(text, home); expanded == dir {
			return nil, nil
		}
	}
	quoted := strconv.Quote(dir)
	if directories != nil && (isArray || directories[kind] == nil) {
		directories[kind] = append(have, dir)
		for _, changed := range additions(src, kind, quoted) {
			if is, err := decoded(changed); err == nil && reflect.DeepEqual(is, want) {
				return changed, nil
			}
		}
	}
	return nil, fmt.Errorf("it is written in a way that is not changed by itself: add %s to directories.%s in [%s]", quoted, kind, "stores")
}

func decoded(src []byte) (map[string]any, error) {
	document := map[string]any{}
	_, err := toml.Decode(string(src), &document)
	return document, err
}

// tableIn returns a table in a table, made where there is none; nil where it is something else.
func tableIn(table map[string]any, key string) map[string]any {
	if table[key] == nil && table != nil {
		table[key] = map[string]any{}
	}
	inner, _ := table[key].(map[string]any)
	return inner
}

// additions are documents that may have what is to be added.
func additions(src []byte, kind, quoted string) [][]byte {
	insert := func(at int, text string) []byte { return slices.Concat(src[:at], []byte(text), src[at:]) }
	var all [][]byte
	statements, _ := tomlpos.Scan(src).Statements()
	var table []string
	for _, st := range statements {
		if st.Header {
			table = st.Name
		}
		end := len(src)
		if i := bytes.IndexByte(src[st.End:], '\n'); i >= 0 {
			end = st.End + i + 1
		}
		switch name := strings.Join(append(slices.Clip(table), st.Name...), " "); {
		case st.Header && slices.Equal(st.Name, []string{"stores"}):
			all = append(all, insert(end, "directories."+kind+" = ["+quoted+"]\n"))
		case st.Header && slices.Equal(st.Name, []string{"stores", "directories"}):
			all = append(all, insert(end, kind+" = ["+quoted+"]\n"))
		case !st.Header && (name == "stores" || name == "stores directories"):
			return nil // nothing is added to an inline table
		case !st.Header && name == "stores directories "+kind && src[st.End-1] == ']':
			all = append(all, insert(st.End-1, ", "+quoted), insert(st.End-1, quoted))
		}
	}
	gap := "\n"
	if len(src) == 0 {
		gap = ""
	} else if src[len(src)-1] != '\n' {
		gap = "\n\n"
	}
	return append(all, insert(len(src), gap+"["+"stores.directories]\n"+kind+" = ["+quoted+"]\n"))
}
