package settings

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

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/tomlpos"
	"github.com/convtools/convtools/runtime/trust"
)

// AddDirectory adds a directory to those of a kind of store in the user's configuration
// file, whose name in messages it returns, and reports whether it was not there. What else
// stands in the file stays as it is. The error is an [*Error] where that cannot be done.
func AddDirectory(getenv func(string) string, kind, dir string) (file string, added bool, err error) {
	path, name, ok := trust.UserFile(getenv)
	if !ok {
		return "", false, &Error{Problems: []string{"it is not known where it is: there is no home directory"}}
	}
	src, err := safefile.Read(path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return name, false, &Error{File: name, Err: err}
	}
	changed, err := withDirectory(src, kind, dir, trust.Home(getenv))
	switch {
	case err != nil:
		return name, false, &Error{File: name, Err: err}
	case changed == nil:
		return name, false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return name, false, err
	}
	return name, true, safefile.Write(path, changed, 0o600)
}

// withDirectory returns a document with a directory among those of a kind of store, or nil
// where it is one of them.
func withDirectory(src []byte, kind, dir, home string) ([]byte, error) {
	before := map[string]any{}
	if _, err := toml.Decode(string(src), &before); err != nil {
		return nil, err
	}
	have, _ := lookUp(before, Table, "directories", kind).([]any)
	for _, item := range have {
		text, _ := item.(string)
		if expanded, _ := trust.Expand(text, home); expanded == dir {
			return nil, nil
		}
	}
	quoted := strconv.Quote(dir)
	for _, changed := range additions(src, kind, quoted) {
		after := map[string]any{}
		if _, err := toml.Decode(string(changed), &after); err != nil {
			continue
		}
		now, _ := lookUp(after, Table, "directories", kind).([]any)
		if !reflect.DeepEqual(now, append(slices.Clone(have), dir)) {
			continue
		}
		forget(after, kind)
		forget(before, kind)
		if reflect.DeepEqual(before, after) {
			return changed, nil
		}
	}
	return nil, fmt.Errorf("it is written in a way that is not changed by itself: add %s to directories.%s in [%s]", quoted, kind, Table)
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
		case st.Header && slices.Equal(st.Name, []string{Table}):
			all = append(all, insert(end, "directories."+kind+" = ["+quoted+"]\n"))
		case st.Header && slices.Equal(st.Name, []string{Table, "directories"}):
			all = append(all, insert(end, kind+" = ["+quoted+"]\n"))
		case !st.Header && (name == Table || name == Table+" directories"):
			return nil // nothing is added to an inline table
		case !st.Header && name == Table+" directories "+kind && src[st.End-1] == ']':
			all = append(all, insert(st.End-1, ", "+quoted), insert(st.End-1, quoted))
		}
	}
	gap := "\n"
	if len(src) == 0 {
		gap = ""
	} else if src[len(src)-1] != '\n' {
		gap = "\n\n"
	}
	return append(all, insert(len(src), gap+"["+Table+".directories]\n"+kind+" = ["+quoted+"]\n"))
}

func lookUp(value any, keys ...string) any {
	for _, key := range keys {
		table, _ := value.(map[string]any)
		value = table[key]
	}
	return value
}

// forget removes what was there of a kind of store, and tables that are empty then.
func forget(document map[string]any, kind string) {
	stores, isTable := document[Table].(map[string]any)
	if directories, ok := stores["directories"].(map[string]any); ok {
		if delete(directories, kind); len(directories) == 0 {
			delete(stores, "directories")
		}
	}
	if isTable && len(stores) == 0 {
		delete(document, Table)
	}
}
