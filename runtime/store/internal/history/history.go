// Package history has the parts that stores of recorded sessions share: it opens their directories, lists
// their files, and turns decoded records into numbered events. It knows no file format, and never writes.
//
// To add a store of files, write a package with four parts, and add a line to the kinds in package conversations:
//
//   - Store embeds [Store]. Home returns the directory of the program, and IDs the form of its ids.
//   - List calls [ListFiles] with a function that finds the files ([Store.Walk]), or [List] if a file is
//     not one session. Links between sessions, such as forks and sub-agents, are found there.
//   - A type that embeds [Entry] has the method Peek, which reads the metadata of a file from its
//     beginning and its end ([jsonl.Peek]), with the working directory: it decides which project the
//     session belongs to.
//   - Its method Decode reads each line ([Recorder.Lines]) into a struct with JSON tags
//     ([jsontext.Decode]), makes a [transcript.Event] of each record that has a text, and adds it to the
//     [Recorder]. A record of an unknown type is counted in [store.Totals] as skipped, never shown.
//
// This package and its callers cache the metadata, read several files at a time, find what has been
// appended, number turns and events, pair questions with answers, and count. A store of a SQLite
// database reads it through package sqlitefile or, if it has a table of messages, through messagedb.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// Store is a store of the sessions of a program. It has no open files and is safe for concurrent use.
// It implements [store.Store] except List.
type Store struct {
	*IDs
	Kind    string // its name
	Dir     string
	Project *project.Project
	Getenv  func(string) string
	Cache   *filecache.Cache // may be nil
	Moved   []string         // directories in Dir that can be links to other places
}

// Open returns a store of a kind in the directory dir of a program's home. The home is that of the options, or else the
// usual home, which is empty if it is not known. Open returns false if there is no such directory.
func Open(o store.Options, kind, usual, dir string, ids *IDs) (Store, bool) {
	s := Store{IDs: ids, Kind: kind, Dir: cmp.Or(o.Home, usual), Project: o.Project, Getenv: o.Env()}
	if s.Dir == "" {
		return s, false
	}
	s.Dir = filepath.Join(s.Dir, dir)
	if o.Cache != nil {
		s.Cache = o.Cache(kind, s.Dir)
	}
	return s, store.IsThere(s.Dir)
}

// Name implements [store.Store].
func (s *Store) Name() string { return s.Kind }

// Place implements [store.Store].
func (s *Store) Place() string { return s.Dir }

// Version implements [store.Store]. It is empty: only a list shows changes.
func (s *Store) Version(context.Context) (string, error) { return "", nil }

// Evidence returns the evidence that a call comes from the program: ByCall if the client is the program, ByEnvironment
// if the environment has a variable of the program, and the call names no client and comes from no other program.
func (s *Store) Evidence(from caller.Caller, isClient bool, variable string) store.Evidence {
	switch {
	case isClient:
		return store.ByCall
	case from.Client == "" && from.Process != caller.Foreign && s.Getenv(variable) != "":
		return store.ByEnvironment
	}
	return store.NoEvidence
}

// Problem returns a problem with a file, named as in [Root].
func (s *Store) Problem(id transcript.ID, kind store.ProblemKind, file string, err error) store.Problem {
	return Problem(id, kind, filepath.Join(s.Dir, filepath.FromSlash(file)), err)
}

// Problem returns a problem with a file at a path. It leaves the path out of the error.
func Problem(id transcript.ID, kind store.ProblemKind, path string, err error) store.Problem {
	return store.Problem{ID: id, Kind: kind, Path: path, Err: Reason(err)}
}

// Reason returns the cause of an error without the path, for messages that have the path already.
func Reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// IDs is the form of the ids of a program's sessions: a prefix and the program's own id, followed for a
// part of a session by "." and a name.
type IDs struct {
	Prefix  string
	Session func(text string) bool    // reports whether a text is a program's own id; nil for a uuid
	Bare    func(session string) bool // reports whether the program's id is valid without the prefix; nil for never
	Part    func(name string) bool    // reports whether a text can name a part; nil if there are no parts
	Example string
}

// ID returns the id of a part of a session, or of the session if part is empty.
func (i *IDs) ID(session, part string) transcript.ID {
	if part != "" {
		part = "." + part
	}
	return transcript.ID(i.Prefix + session + part)
}

// normal returns the normal spelling of a text that is a program's own id, and reports whether it is such an id.
func (i *IDs) normal(text string) (string, bool) {
	if i.Session != nil {
		return text, i.Session(text)
	}
	text = strings.ToLower(text)
	return text, IsUUID(text)
}

// Split returns the session and the part of an id; false for another text. The case of prefix and uuid does not matter.
func (i *IDs) Split(text string) (session, part string, ok bool) {
	rest, prefixed := CutPrefix(text, i.Prefix)
	isPartValid := true
	if i.Part != nil {
		var hasPart bool
		rest, part, hasPart = strings.Cut(rest, ".")
		isPartValid = !hasPart || i.Part(part)
	}
	session, isSession := i.normal(rest)
	mayLackPrefix := isSession && i.Bare != nil && i.Bare(session)
	if isSession && isPartValid && (prefixed || mayLackPrefix) {
		return session, part, true
	}
	return "", "", false
}

// ParseID implements [store.Store]. The error is a [*store.BadIDError].
func (i *IDs) ParseID(text string) (transcript.ID, error) {
	session, part, ok := i.Split(text)
	if !ok {
		return "", BadID(text, fmt.Sprintf("expected %q and the id of a session, such as %s", i.Prefix, i.Example))
	}
	return i.ID(session, part), nil
}

// Claims reports whether a text can only be meant as an id of this form: it begins with the prefix, even if the rest is no
// id, or it is a program's own id that is valid without the prefix.
func (i *IDs) Claims(text string) bool {
	session, isSession := i.normal(text)
	isBareID := isSession && i.Bare != nil && i.Bare(session)
	_, isPrefixed := CutPrefix(text, i.Prefix)
	return isPrefixed || isBareID
}

// Under returns a path in a directory, or "" for no directory.
func Under(dir string, elem ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}

// InHome returns a path in the user's home directory, or "" if the environment does not name that.
func InHome(getenv func(string) string, elem ...string) string {
	return Under(config.Home(getenv), elem...)
}

// InData returns a path in the user's data directory, the same on all systems, or "" if the environment does
// not name that: https://specifications.freedesktop.org/basedir-spec/latest/.
func InData(getenv func(string) string, elem ...string) string {
	if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return Under(data, elem...)
	}
	return InHome(getenv, append([]string{".local", "share"}, elem...)...)
}

// InSettings returns a path in the directory in which programs keep their settings on the system, or "" if the
// environment does not name that.
func InSettings(getenv func(string) string, elem ...string) string {
	var dir string
	switch runtime.GOOS {
	case "windows":
		dir = getenv("APPDATA")
	case "darwin":
		dir = InHome(getenv, "Library", "Application Support")
	default:
		if dir = getenv("XDG_CONFIG_HOME"); !filepath.IsAbs(dir) {
			dir = InHome(getenv, ".config")
		}
	}
	return Under(dir, elem...)
}

// CutPrefix is strings.CutPrefix for a prefix in any case.
func CutPrefix(text, prefix string) (string, bool) {
	if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		return text[len(prefix):], true
	}
	return text, false
}

// UUID is the regular expression of a uuid in lower case.
const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

// IsUUID reports whether s is a uuid in lower case.
func IsUUID(s string) bool {
	digitsAsZeros := strings.Map(func(c rune) rune {
		if strings.ContainsRune("0123456789abcdef", c) {
			return '0'
		}
		return c
	}, s)
	return digitsAsZeros == "00000000-0000-0000-0000-000000000000"
}

// IsTimed reports whether a uuid is of version 7, as those of Codex are and those of Claude Code are not.
func IsTimed(uuid string) bool { return uuid[14] == '7' }

// IsName reports whether s can be part of an id and of a file name: it has up to 64 letters, digits, '_' and '-'.
func IsName(s string) bool {
	const most = 64
	return s != "" && len(s) <= most && IsPlain(s)
}

// IsPlain reports whether s has only ASCII letters and digits, '_' and '-', which JSON never escapes.
func IsPlain(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		return !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '-')
	})
}

// CompareBool orders false before true.
func CompareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// BadID returns a [*store.BadIDError].
func BadID(text, reason string) error {
	const shown = 128
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return &store.BadIDError{Text: text, Reason: reason}
}
