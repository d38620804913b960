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

// Short writes a path for people, with "~" for the home directory.
func Short(path string, getenv func(string) string) string {
	home := Home(getenv)
	if below, ok := strings.CutPrefix(path, filepath.Clean(home)+string(filepath.Separator)); ok && home != "" {
		return "~" + string(filepath.Separator) + below
	}
	return path
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

// QuotePattern returns a pattern, as package doublestar has them, that is for a path alone. It has slashes.
func QuotePattern(path string) string {
	quote := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
	return quote.Replace(filepath.ToSlash(path))
}

// Problem is something that is wrong with the setting.
type Problem struct {
	Key           []string // the names of the tables and of the key, outermost first
	Elem          int      // the index in the array that Key names; -1 for the key itself
	Message, Hint string   // a sentence without a period, and how to put it right
}

func (p *Problem) Error() string { return p.Message + "; " + p.Hint }

// Directories returns the absolute paths of the directories that the user trusts,
// as they are written: they may be links, and may not exist. Without a file or the
// setting there are none. Errors name the file.
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
		return nil, fmt.Errorf("reading whom the user trusts: %s: %w", name, err)
	}
	dirs, problems := Parse(table, Home(getenv))
	if len(problems) > 0 {
		return nil, fmt.Errorf("reading whom the user trusts: %s: %w", name, &problems[0])
	}
	return dirs, nil
}

// Parse reads the setting from the user's decoded configuration file.
func Parse(file map[string]any, home string) (dirs []string, problems []Problem) {
	value, ok := file[Table]
	if !ok {
		return nil, nil
	}
	wrong := func(elem int, message, hint string, key ...string) {
		problems = append(problems, Problem{append([]string{Table}, key...), elem, message, hint})
	}
	const key, example = "directories", `write directories = ["~/notes"] below [trust]`
	table, ok := value.(map[string]any)
	if !ok {
		wrong(-1, "trust must be a table", example)
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if name != key {
			wrong(-1, fmt.Sprintf("unknown key %.80q in [trust]", name), "known here: "+key, name)
		}
	}
	items, ok := table[key].([]any)
	if table[key] != nil && !ok {
		wrong(-1, "directories of [trust] must be an array of strings", example, key)
	}
	for i, item := range items {
		dir, isText := item.(string)
		path, absolute := Expand(dir, home)
		switch {
		case !isText:
			wrong(i, "directories of [trust] must be an array of strings", example, key)
		case !absolute || strings.ContainsRune(path, 0):
			wrong(i, fmt.Sprintf("%.80q in directories of [trust] is not an absolute path", dir), "write a path that begins with / or ~/", key)
		default:
			dirs = append(dirs, path)
		}
	}
	return dirs, problems
}

// CacheDir returns the directory for what convtools can make again, which need not be
// there. getenv looks up HOME and XDG_CACHE_HOME, or LocalAppData on Windows; where these
// do not say where it is, it is empty.
func CacheDir(getenv func(string) string) string {
	dir := getenv("XDG_CACHE_HOME")
	switch home := Home(getenv); {
	case runtime.GOOS == "windows":
		dir = getenv("LocalAppData")
	case filepath.IsAbs(dir):
	case runtime.GOOS == "darwin" && home != "":
		dir = filepath.Join(home, "Library", "Caches")
	case home != "":
		dir = filepath.Join(home, ".cache")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "convtools")
}

// StateDir returns the directory for what convtools has to remember, which need not be there.
// getenv looks up HOME and XDG_STATE_HOME, or LOCALAPPDATA on Windows; where these do not say
// where it is, it is empty.
func StateDir(getenv func(string) string) string {
	dir := getenv("XDG_STATE_HOME")
	switch home := Home(getenv); {
	case runtime.GOOS == "windows":
		if dir = getenv("LOCALAPPDATA"); dir == "" && home != "" {
			dir = filepath.Join(home, "AppData", "Local")
		}
	case runtime.GOOS == "darwin" && home != "":
		dir = filepath.Join(home, "Library", "Application Support")
	case filepath.IsAbs(dir):
	case home != "":
		dir = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "convtools")
}
