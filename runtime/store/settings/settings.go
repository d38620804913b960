// Package settings reads what the user says about stores of conversations: the tables
// [stores] and [index] of the user's own configuration file. It asks no other file: a project does
// not choose what is read on its user's machine.
//
// It only reads. What it cannot make sense of is an error: conversations that the user
// may have excluded are better not looked up.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/trust"
)

// Table is the name of the table that the settings stand in, and IndexTable of the one on
// indexes.
const (
	Table      = "stores"
	IndexTable = "index"
)

// maxFile is the size in bytes of the largest configuration file that is read.
const maxFile = 1 << 20

// Settings is what the user says about stores.
type Settings struct {
	// File is what the file is called in messages; empty where there is none.
	File string
	// Off are the kinds of stores that are not read, and On those that the user asks for
	// by name.
	Off, On []string
	// Exclude are the absolute paths of directories of which, and of all below which, no
	// conversations are read.
	Exclude []string
	// Directories are, by kind of store, the absolute paths of directories in which
	// conversations are looked for too, each as the one that the program itself uses; of JP
	// they are workspaces.
	Directories map[string][]string
	// NoIndex is set where no index is kept, and none used.
	NoIndex bool
}

// Error is the error for settings that cannot be used.
type Error struct {
	File     string // what the file is called in messages
	Problems []string
	Err      error // where the file cannot be read or is no TOML; else nil
}

func (e *Error) Error() string {
	what := strings.Join(e.Problems, "; ")
	if e.Err != nil {
		what = e.Err.Error()
	}
	return fmt.Sprintf("reading [%s] of %s: %s", Table, e.File, what)
}

func (e *Error) Unwrap() error { return e.Err }

// Read reads the settings. Without a file there are none. kinds are the names of all
// kinds of stores. The error is an [*Error].
func Read(getenv func(string) string, kinds []string) (Settings, error) {
	path, name, ok := trust.UserFile(getenv)
	if !ok {
		return Settings{}, nil
	}
	src, err := safefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		if _, missing := os.Lstat(path); missing != nil {
			return Settings{}, nil
		}
		err = errDangling
	}
	var file map[string]any
	if err == nil {
		_, err = toml.Decode(strings.TrimPrefix(string(src), "\ufeff"), &file)
	}
	if err != nil {
		return Settings{}, &Error{File: name, Err: err}
	}
	r := reader{home: trust.Home(getenv), kinds: kinds}
	s := r.settings(file)
	s.File, s.NoIndex = name, r.noIndex(file)
	if len(r.problems) > 0 {
		return Settings{}, &Error{File: name, Problems: r.problems}
	}
	return s, nil
}

var errDangling = errors.New("it is a link to a file that does not exist")

// reader reads a decoded file.
type reader struct {
	home     string
	kinds    []string
	problems []string
}

func (r *reader) wrong(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

func (r *reader) settings(file map[string]any) Settings {
	var s Settings
	value, ok := file[Table]
	if !ok {
		return s
	}
	table, ok := value.(map[string]any)
	if !ok {
		r.wrong("%s must be a table", Table)
		return s
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		switch value := table[key]; key {
		case "off":
			off := r.texts(key, value)
			for _, kind := range off {
				r.kind(key, kind, r.kinds)
			}
			s.Off = append(s.Off, off...)
		case "exclude":
			s.Exclude = r.paths(key, value)
		case "directories":
			s.Directories = r.directories(key, value)
		default:
			r.toggle(&s, key, value)
		}
	}
	for _, kind := range s.On {
		if slices.Contains(s.Off, kind) {
			r.wrong("%s is true, and in off; remove one of them", kind)
		}
	}
	return s
}

// noIndex reads the table on indexes.
func (r *reader) noIndex(file map[string]any) bool {
	value, ok := file[IndexTable]
	table, isTable := value.(map[string]any)
	if ok && !isTable {
		r.wrong("%s must be a table", IndexTable)
	}
	off := false
	for _, key := range slices.Sorted(maps.Keys(table)) {
		isBool := true
		if key == "off" {
			off, isBool = table[key].(bool)
		} else {
			r.wrong("unknown key %s in %s; known here: off", text.Quote(key), IndexTable)
		}
		if !isBool {
			r.wrong("off in %s must be true or false", IndexTable)
		}
	}
	return off
}

// toggle reads the name of a kind of store that is false or true.
func (r *reader) toggle(s *Settings, key string, value any) {
	on, isBool := value.(bool)
	switch {
	case !slices.Contains(r.kinds, key):
		known := append([]string{"directories", "exclude", "off"}, r.kinds...)
		hint := "known here: " + strings.Join(known, ", ")
		if near := near.Name(key, known); near != "" {
			hint = "did you mean " + text.Quote(near) + "?"
		}
		r.wrong("unknown key %s; %s", text.Quote(key), hint)
	case !isBool:
		r.wrong("%s must be true or false", key)
	case on:
		s.On = append(s.On, key)
	default:
		s.Off = append(s.Off, key)
	}
}

func (r *reader) directories(key string, value any) map[string][]string {
	table, ok := value.(map[string]any)
	if !ok {
		r.wrong("%s must be a table of arrays, by kind of store", key)
		return nil
	}
	found := map[string][]string{}
	for _, kind := range slices.Sorted(maps.Keys(table)) {
		r.kind(key, kind, r.kinds)
		found[kind] = r.paths(key+"."+kind, table[kind])
	}
	return found
}

// kind demands that a name is that of one of some kinds.
func (r *reader) kind(key, name string, known []string) {
	if slices.Contains(known, name) {
		return
	}
	hint := "known here: " + strings.Join(known, ", ")
	if near := near.Name(name, known); near != "" {
		hint = "did you mean " + text.Quote(near) + "?"
	}
	r.wrong("unknown store %s in %s; %s", text.Quote(name), key, hint)
}

func (r *reader) texts(key string, value any) []string {
	items, ok := value.([]any)
	texts := make([]string, len(items))
	for i, item := range items {
		var isText bool
		texts[i], isText = item.(string)
		ok = ok && isText
	}
	if !ok {
		r.wrong("%s must be an array of strings", key)
		return nil
	}
	return texts
}

func (r *reader) paths(key string, value any) []string {
	paths := r.texts(key, value)
	for i, path := range paths {
		expanded, ok := trust.Expand(path, r.home)
		if !ok || strings.ContainsRune(path, 0) {
			r.wrong("%s in %s is not an absolute path; write one that begins with / or ~/", text.Quote(path), key)
		}
		paths[i] = expanded
	}
	return paths
}
