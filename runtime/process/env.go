package process

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// inherited lists the variables that a command needs to find programs and files, and for language and time zone. Others
// may hold credentials. A name that ends in * means all names with that prefix.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_*", "XDG_*",
	// Windows
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
	"HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
}

// DefaultEnv returns the environment of a command that has none of its own: variables of this process that name
// directories, the user, the language and the time zone, the variables named in also, and NO_COLOR=1 and TERM=dumb,
// so that output has no escape sequences. A name that ends in * means all names with that prefix.
func DefaultEnv(also ...string) []string {
	return selectEnv(os.Environ(), also)
}

// selectEnv returns the entries of environ that are inherited or named in also, then NO_COLOR=1 and TERM=dumb.
func selectEnv(environ, also []string) []string {
	var env []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		isReplaced := anyMatch([]string{"NO_COLOR", "TERM"}, name)
		if !isReplaced && (anyMatch(inherited, name) || anyMatch(also, name)) {
			env = append(env, entry)
		}
	}
	return append(env, "NO_COLOR=1", "TERM=dumb")
}

// anyMatch reports whether patterns has a name, or a prefix of it followed by *.
func anyMatch(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if prefix, hasStar := strings.CutSuffix(pattern, "*"); hasStar {
			return strings.HasPrefix(envName(name), envName(prefix))
		}
		return envName(name) == envName(pattern)
	})
}

// envName returns a name in upper case on Windows, which ignores the case of names, and unchanged elsewhere.
func envName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
