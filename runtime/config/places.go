package config

import (
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// userFile returns the path of the user's own configuration file and its name in messages. getenv looks up HOME and
// XDG_CONFIG_HOME, or USERPROFILE and AppData on Windows. Without them, both are empty.
func userFile(getenv func(string) string) (path, name string) {
	if dir := ours(getenv, "XDG_CONFIG_HOME", "AppData", ".config", ".config"); dir != "" {
		path = filepath.Join(dir, "convtools.toml")
	}
	return path, filepath.ToSlash(Short(path, getenv))
}

// Home returns the user's home directory, "~"; it is empty if the environment has none.
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

// Expand returns an absolute path for one that is absolute or begins with "~/". It reports whether the path is one of the
// two.
func Expand(path, home string) (string, bool) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = filepath.Join(home, path[1:])
		return path, filepath.IsAbs(home)
	}
	path = filepath.FromSlash(path)
	return filepath.Clean(path), filepath.IsAbs(path)
}

// ProjectPath returns a path that is relative to the root of a project in its shortest form, and reports whether it is one:
// with slashes, and in the project. The rules are the same on every system, so that a file works on all of them.
func ProjectPath(written string) (string, bool) {
	odd := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' }
	clean := path.Clean(written)
	return clean, fs.ValidPath(clean) && strings.TrimSpace(written) != "" && !strings.HasPrefix(clean, "~") && !strings.ContainsFunc(written, odd)
}

// QuotePattern returns the pattern of package doublestar that matches a path alone. It has slashes.
func QuotePattern(path string) string {
	quote := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
	return quote.Replace(filepath.ToSlash(path))
}

// CacheDir returns the directory for files that convtools can make again. It need not exist. getenv looks up HOME and
// XDG_CACHE_HOME, or LocalAppData on Windows; without them it is empty.
func CacheDir(getenv func(string) string) string {
	return ours(getenv, "XDG_CACHE_HOME", "LocalAppData", ".cache", "Library/Caches")
}

// StateDir returns the directory for files that convtools cannot make again, as [CacheDir] does, with XDG_STATE_HOME.
func StateDir(getenv func(string) string) string {
	return ours(getenv, "XDG_STATE_HOME", "LocalAppData", ".local/state", "Library/Application Support")
}

// ours returns the directory of convtools in the directory that a variable names, or in one below the home directory. As the
// XDG Base Directory Specification says, it ignores relative paths.
func ours(getenv func(string) string, variable, windows, linux, darwin string) string {
	dir, below := getenv(variable), linux
	switch {
	case runtime.GOOS == "windows":
		dir = getenv(windows)
	case filepath.IsAbs(dir):
	default:
		if runtime.GOOS == "darwin" {
			below = darwin
		}
		dir = filepath.Join(Home(getenv), below)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "convtools")
}
