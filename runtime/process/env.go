package process

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// inherited lists what a command needs to find its programs, its files, its
// language and its clock. Everything else stays here: an environment often
// holds credentials, and a command gets only those it is meant to have. A name
// that ends in * stands for every name that begins so.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_*", "XDG_*",
	// Windows
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
	"HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
}

// DefaultEnv returns the environment a command gets unless it has its own: of
// this process's variables those that name directories, the user, the language
// and the time zone, and NO_COLOR=1 and TERM=dumb so that output comes without
// escape sequences. The variables named in also are passed on too; a name that
// ends in * stands for every name that begins so.
func DefaultEnv(also ...string) []string {
	return selectEnv(os.Environ(), also)
}

func selectEnv(environ, also []string) []string {
	var env []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !overridden(name) && (anyMatch(inherited, name) || anyMatch(also, name)) {
			env = append(env, entry)
		}
	}
	return append(env, "NO_COLOR=1", "TERM=dumb")
}

func overridden(name string) bool {
	return envName(name) == "NO_COLOR" || envName(name) == "TERM"
}

func anyMatch(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, wild := strings.CutSuffix(envName(pattern), "*")
		if wild {
			return strings.HasPrefix(envName(name), prefix)
		}
		return envName(name) == prefix
	})
}

// envName folds what the operating system takes for the same name.
func envName(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
