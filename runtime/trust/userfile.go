package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// maxFile is the size in bytes of the largest configuration file that is read.
const maxFile = 1 << 20

// Table is the name of the table that the setting stands in.
const Table = "trust"

// UserFile returns the path of the user's own configuration file, and what it is
// called in messages. getenv looks up HOME and XDG_CONFIG_HOME, or USERPROFILE and
// AppData on Windows; where these do not say where the file is, and where getenv is
// nil, there is none.
func UserFile(getenv func(string) string) (path, name string, ok bool) {
	if getenv == nil {
		return "", "", false
	}
	home := Home(getenv)
	dir := getenv("XDG_CONFIG_HOME")
	switch {
	case runtime.GOOS == "windows":
		dir = getenv("AppData")
	case filepath.IsAbs(dir):
	case home != "":
		// The XDG Base Directory Specification wants relative paths to be ignored.
		dir = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(dir) {
		return "", "", false
	}
	path = filepath.Join(dir, "convtools", "convtools.toml")
	name = filepath.ToSlash(path)
	if home != "" {
		if below, ok := strings.CutPrefix(path, filepath.Clean(home)+string(filepath.Separator)); ok {
			name = "~/" + filepath.ToSlash(below)
		}
	}
	return path, name, true
}

// Home returns the user's home directory, which "~" stands for; empty where the
// environment does not say.
func Home(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}

// Expand returns an absolute path for one that is absolute or begins with "~/", and
// reports whether it is one of the two.
func Expand(path, home string) (string, bool) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = filepath.Join(home, path[1:])
		return path, filepath.IsAbs(home)
	}
	path = filepath.FromSlash(path)
	return filepath.Clean(path), filepath.IsAbs(path)
}

// Problem is something that is wrong with the setting.
type Problem struct {
	// Key has the names of the tables and of the key, outermost first.
	Key []string
	// Elem is the index in the array that Key names; -1 for the key itself.
	Elem int
	// Message is one sentence without a period; Hint says how to put it right.
	Message, Hint string
}

// Error is the error for a user's configuration file whose setting cannot be used.
type Error struct {
	File     string // what the file is called in messages
	Problems []Problem
	Err      error // why the file could not be read; nil where Problems has the reasons
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s cannot be read: %v", e.File, e.Err)
	}
	text := e.File + ": " + e.Problems[0].Message
	if hint := e.Problems[0].Hint; hint != "" {
		text += "; " + hint
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Directories returns the absolute paths of the directories that the user trusts,
// as they are written: they may be links, and may not exist. Without a file or the
// setting there are none. The error is an [*Error].
func Directories(getenv func(string) string) ([]string, error) {
	path, name, ok := UserFile(getenv)
	if !ok {
		return nil, nil
	}
	src, err := safefile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var table map[string]any
	if err == nil {
		_, err = toml.Decode(strings.TrimPrefix(string(src), "\ufeff"), &table)
	}
	if err != nil {
		return nil, &Error{File: name, Err: err}
	}
	dirs, problems := Parse(table, Home(getenv))
	if len(problems) > 0 {
		return nil, &Error{File: name, Problems: problems}
	}
	return dirs, nil
}

// Parse reads the setting from the user's decoded configuration file.
func Parse(file map[string]any, home string) (dirs []string, problems []Problem) {
	value, ok := file[Table]
	if !ok {
		return nil, nil
	}
	wrong := func(key []string, elem int, message, hint string) {
		problems = append(problems, Problem{Key: key, Elem: elem, Message: message, Hint: hint})
	}
	const example = `write directories = ["~/notes"] below [trust]`
	table, ok := value.(map[string]any)
	if !ok {
		wrong([]string{Table}, -1, "trust must be a table", example)
		return nil, problems
	}
	key := []string{Table, "directories"}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if name != key[1] {
			wrong([]string{Table, name}, -1, fmt.Sprintf("unknown key %.80q in [trust]", name), "known here: "+key[1])
		}
	}
	if table[key[1]] == nil {
		return nil, problems
	}
	items, ok := table[key[1]].([]any)
	if !ok {
		wrong(key, -1, "directories of [trust] must be an array of strings", example)
	}
	for i, item := range items {
		dir, ok := item.(string)
		if !ok {
			wrong(key, i, "directories of [trust] must be an array of strings", example)
			continue
		}
		path, ok := Expand(dir, home)
		if !ok || strings.ContainsRune(path, 0) || !utf8.ValidString(path) {
			wrong(key, i, fmt.Sprintf("%.80q in directories of [trust] is not an absolute path", dir), "write a path that begins with / or ~/")
			continue
		}
		dirs = append(dirs, path)
	}
	return dirs, problems
}
