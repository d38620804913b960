// Package history is what the stores of the sessions that programs record on this machine do
// alike. It knows no format of a file.
//
// A new store of files is a package with four things:
//
//   - a Store that embeds [Store], Home, which says where the program keeps everything, and [IDs];
//   - List, which is [List] with a function that finds the files ([Store.Walk]) and one that makes
//     conversations of them: here belongs what links sessions, such as forks and sub-agents;
//   - an entry, which embeds [Entry], with Peek: what a list shows of a file, of its beginning and its
//     end ([PeekLines]), and the working directory, by which it belongs to a project;
//   - a [Script], whose Tell makes a plain [transcript.Event] of each record that says something, by
//     a struct with JSON tags ([jsontext.Decode]), and adds it to a [Talk]. A log that is appended
//     to is [Growing].
//
// Caching, several files at a time, growth, numbers of turns and events, inquiries, damage and
// totals are done here. A record of no known type is counted in [store.Totals.Skipped]. A store of
// a SQLite database reads that through package sqlitefile, or where it has a table of messages
// through package messagedb.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/transcript"
)

// Store is a store of the sessions of a program. It holds no open files and is safe for
// concurrent use. It implements [store.Store] but for List.
type Store struct {
	*IDs
	Kind    string // its name
	Dir     string // where it is
	Project *project.Project
	Getenv  func(string) string
	Cache   *filecache.Book
	// Moved are directories in the place that may be links to elsewhere.
	Moved []string
}

// New returns a store of a kind in a directory.
func New(o store.Options, kind, dir string, ids *IDs) Store {
	return Store{IDs: ids, Kind: kind, Dir: dir, Project: o.Project, Getenv: o.Env(), Cache: o.Cache.Of(kind, dir)}
}

// Open returns a store of a kind in a directory of a program's home, which [store.Options] or else
// the environment names, and false where the program has recorded nothing there.
func Open(o store.Options, kind string, home func(getenv func(string) string) string, dir string, ids *IDs) (Store, bool) {
	place := cmp.Or(o.Home, home(o.Env()))
	if place == "" {
		return Store{}, false
	}
	s := New(o, kind, filepath.Join(place, dir), ids)
	return s, store.IsThere(s.Dir)
}

// Name implements [store.Store].
func (s *Store) Name() string { return s.Kind }

// Place implements [store.Store].
func (s *Store) Place() string { return s.Dir }

// Version implements [store.Store]: only a list tells.
func (s *Store) Version(context.Context) (string, error) { return "", nil }

// Evidence returns what shows that a call comes from the program: that it calls itself as its
// client does, or a variable of the environment.
func (s *Store) Evidence(from caller.Caller, isClient bool, variable string) store.Evidence {
	switch {
	case isClient:
		return store.ByCall
	case from.Client == "" && from.Process != caller.Foreign && s.Getenv(variable) != "":
		return store.ByEnvironment
	}
	return store.NoEvidence
}

// Problem returns what is wrong with a file, whose name below the place of the store has slashes.
func (s *Store) Problem(id transcript.ID, kind store.ProblemKind, file string, err error) store.Problem {
	return Problem(id, kind, filepath.Join(s.Dir, filepath.FromSlash(file)), err)
}

// Problem returns what is wrong with a file at a path, which the error need not repeat.
func Problem(id transcript.ID, kind store.ProblemKind, path string, err error) store.Problem {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return store.Problem{ID: id, Kind: kind, Path: path, Err: err}
}

// IDs are the ids of a program's sessions: a prefix and the program's own id, with "." and a name
// after it where it is that of a part of the session.
type IDs struct {
	Prefix string
	// Session reports whether a text is a program's own id; nil is for a uuid, in any case.
	Session func(text string) bool
	// Bare reports whether such an id without the prefix is one too; nil is for none.
	Bare func(session string) bool
	// Part reports whether a text can be the name of a part; nil is for none.
	Part    func(name string) bool
	Example string
}

// ID returns the id of a session, or of a part of it where that is not empty.
func (i *IDs) ID(session, part string) transcript.ID {
	if part != "" {
		part = "." + part
	}
	return transcript.ID(i.Prefix + session + part)
}

// own returns a program's own id as it is spelled, and reports whether a text is one.
func (i *IDs) own(text string) (string, bool) {
	if i.Session != nil {
		return text, i.Session(text)
	}
	text = strings.ToLower(text)
	return text, IsUUID(text)
}

// Split returns the session and the part of an id, in any case.
func (i *IDs) Split(text string) (session, part string, ok bool) {
	rest, prefixed := CutPrefix(text, i.Prefix)
	hasPart := false
	if i.Part != nil {
		rest, part, hasPart = strings.Cut(rest, ".")
	}
	session, ok = i.own(rest)
	if !ok || !prefixed && (i.Bare == nil || !i.Bare(session)) || hasPart && !i.Part(part) {
		return "", "", false
	}
	return session, part, true
}

// ParseID reads an id. The error is a [*store.BadIDError].
func (i *IDs) ParseID(text string) (transcript.ID, error) {
	session, part, ok := i.Split(text)
	if !ok {
		return "", BadID(text, fmt.Sprintf("expected %q and the id of a session, such as %s", i.Prefix, i.Example))
	}
	return i.ID(session, part), nil
}

// Claims reports whether a text can only be meant as an id of this kind, be it a wrong one.
func (i *IDs) Claims(text string) bool {
	rest, prefixed := CutPrefix(text, i.Prefix)
	rest, ok := i.own(rest)
	return prefixed || i.Bare != nil && ok && i.Bare(rest)
}

// InHome returns a path in the user's home directory, or "" where the environment does not
// tell where that is.
func InHome(getenv func(string) string, elem ...string) string {
	home := config.Home(getenv)
	if home == "" {
		return ""
	}
	return filepath.Join(append([]string{home}, elem...)...)
}

// CutPrefix returns an id without its prefix, in any case, and reports whether it has
// that.
func CutPrefix(text, prefix string) (string, bool) {
	if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		return text[len(prefix):], true
	}
	return text, false
}

// IsUUID reports whether s is a uuid in lower case.
func IsUUID(s string) bool {
	const form, hex = "00000000-0000-0000-0000-000000000000", "0123456789abcdef"
	for i := 0; i < len(s) && len(s) == len(form); i++ {
		if form[i] == '-' && s[i] != '-' || form[i] != '-' && strings.IndexByte(hex, s[i]) < 0 {
			return false
		}
	}
	return len(s) == len(form)
}

// IsTimed reports whether a uuid is of version 7, which begins with a time: those of
// Codex are, and those of Claude Code are not.
func IsTimed(uuid string) bool { return uuid[14] == '7' }

// IsName reports whether s can be a part of an id, and the name of a file: up to 64
// letters, digits, '_' and '-'.
func IsName(s string) bool {
	const most = 64
	return s != "" && len(s) <= most && IsPlain(s)
}

// IsPlain reports whether s has no other characters than ASCII letters and digits, '_' and '-',
// which stand in JSON as they are.
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

// BadID returns the error for a text that is no id.
func BadID(text, reason string) error {
	const shown = 128
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return &store.BadIDError{Text: text, Reason: reason}
}
