package config

import (
	"path/filepath"
	"runtime"
	"strings"
)

// UserFile returns the path of the user's own configuration file, and what it is
// called in messages. getenv looks up HOME and XDG_CONFIG_HOME, or USERPROFILE and
// AppData on Windows; where these do not say where the file is, and where getenv is
// nil, there is none.
func UserFile(getenv func(string) string) (path, name string, ok bool) {
	if getenv == nil {
		return "", "", false
	}
	dir := ours(getenv, "XDG_CONFIG_HOME", "AppData", ".config", ".config")
	if dir == "" {
		return "", "", false
	}
	path = filepath.Join(dir, "convtools.toml")
	return path, filepath.ToSlash(Short(path, getenv)), true
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

// CacheDir returns the directory for what convtools can make again, which need not be
// there. getenv looks up HOME and XDG_CACHE_HOME, or LocalAppData on Windows; where these
// do not say where it is, it is empty.
func CacheDir(getenv func(string) string) string {
	return ours(getenv, "XDG_CACHE_HOME", "LocalAppData", ".cache", "Library/Caches")
}

// StateDir returns the directory for what convtools has to remember, as [CacheDir] does with
// XDG_STATE_HOME.
func StateDir(getenv func(string) string) string {
	return ours(getenv, "XDG_STATE_HOME", "LocalAppData", ".local/state", "Library/Application Support")
}

// ours returns the directory of convtools in the one that a variable names, or in one below
// the home directory. The XDG Base Directory Specification wants relative paths to be ignored.
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
