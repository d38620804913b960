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
	if dir := appDir(getenv, "XDG_CONFIG_HOME", "AppData", ".config", ".config"); dir != "" {
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

// Short returns a path for people, with "~" for the home directory if the path is below that.
func Short(path string, getenv func(string) string) string {
	home := Home(getenv)
	if below, ok := strings.CutPrefix(path, filepath.Clean(home)+string(filepath.Separator)); ok && home != "" {
		return "~" + string(filepath.Separator) + below
	}
	return path
}

// Expand returns a clean path with home in place of a leading "~" or "~/", and whether the path is absolute.
func Expand(path, home string) (expanded string, isAbsolute bool) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.Join(home, strings.TrimPrefix(path, "~")), filepath.IsAbs(home)
	}
	path = filepath.FromSlash(path)
	return filepath.Clean(path), filepath.IsAbs(path)
}

// ProjectPath returns the shortest form of a path in a project: relative to the project's root, with slashes. It
// returns false for another path. The result is the same on every system, so that a file works on all of them.
func ProjectPath(written string) (string, bool) {
	isForbidden := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == ':' }
	clean := path.Clean(written)
	return clean, fs.ValidPath(clean) && strings.TrimSpace(written) != "" && !strings.HasPrefix(clean, "~") && !strings.ContainsFunc(written, isForbidden)
}

// QuotePattern returns a pattern of package doublestar that matches only the given path. The pattern has slashes.
func QuotePattern(path string) string {
	quote := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
	return quote.Replace(filepath.ToSlash(path))
}

// CacheDir returns the directory for files that convtools can make again. It need not exist. getenv looks up HOME and
// XDG_CACHE_HOME, or LocalAppData on Windows; without them it is empty.
func CacheDir(getenv func(string) string) string {
	return appDir(getenv, "XDG_CACHE_HOME", "LocalAppData", ".cache", "Library/Caches")
}

// StateDir returns the directory for files that convtools cannot make again. It need not exist. getenv looks up HOME
// and XDG_STATE_HOME, or LocalAppData on Windows; without them it is empty.
func StateDir(getenv func(string) string) string {
	return appDir(getenv, "XDG_STATE_HOME", "LocalAppData", ".local/state", "Library/Application Support")
}

// appDir returns this program's directory, called convtools, in a directory for the files of all programs. On Windows
// the variable windowsVariable names that directory, elsewhere the variable xdgVariable. If xdgVariable has no absolute
// path, the directory is linux, or darwin on macOS, below the home directory. appDir returns "" if none is known.
func appDir(getenv func(string) string, xdgVariable, windowsVariable, linux, darwin string) string {
	dir := getenv(xdgVariable)
	switch {
	case runtime.GOOS == "windows":
		dir = getenv(windowsVariable)
	case filepath.IsAbs(dir): // the XDG Base Directory Specification ignores relative paths
	case runtime.GOOS == "darwin":
		dir = filepath.Join(Home(getenv), darwin)
	default:
		dir = filepath.Join(Home(getenv), linux)
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "convtools")
}
