// Package config reads the configuration files: the user's own, and those of the project that a directory is in. It is
// the one place that knows which tables and keys there are.
//
//	~/.config/convtools/convtools.toml    stores, index, recall and trust, and all that a project may have
//	convtools.toml, .jp/kb.toml           kb, model, mcp and session
//
// A table that is wrong disables what it configures, and no more: see [Problem]. An unknown key that may be meant to
// exclude conversations disables reading them.
//
// A project may be a clone of somebody else's repository. The user's [model.NAME] and [mcp.NAME] replace the
// project's as a whole, so that no project can send a key of the user's elsewhere; a project can lower a limit of the
// user's, but not raise it; it names directories inside of itself; [File.Trusted] decides what else it may do.
//
// The package checks names, types and places; the packages that use a value check its meaning. It runs nothing, and
// writes nothing except in [AddDirectory].
package config

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/workspace"
)

// Config is the content of the files, together.
type Config struct {
	UserFile string // the name of the user's file in messages; empty if there is no place for one
	Root     string // the directory of the project; empty if there is none

	Stores Stores
	Index  struct {
		Off bool `toml:"off"`
	}
	Recall struct { // how questions are answered
		Language string `toml:"language"`
		Secrets  string `toml:"secrets"` // show or hide
	}
	Trust struct {
		Directories []string `toml:"directories"` // absolute paths, which may be links, and may not exist
	}

	Models   []Table[Model] // the user's before the project's
	Servers  []Table[Server]
	Session  Session // of both files
	OwnModel string  // the model in [session] of the user's file

	Topics   []Topic // in the order in which they are first mentioned
	Problems []Problem
	Home     string // the user's home directory
	user     *File  // nil if it cannot be read
}

// Stores is the table [stores]: which conversations are read.
type Stores struct {
	Off []string `toml:"off"` // kinds of stores that are not read
	// Exclude are absolute paths of directories. No conversations of them or of directories below them are read.
	Exclude []string `toml:"exclude"`
	// Directories are, by kind of store, absolute paths of more directories like the program's own; for JP, workspaces.
	Directories map[string][]string `toml:"directories"`
	Kinds       map[string]bool     // the other keys of the table: kinds of stores, each true if it is read
	Patterns    []string            // the exclusions that are also patterns of package doublestar, with slashes
}

// Session is the table [session]. A limit is 0 if no file has it.
type Session struct {
	Model                  string `toml:"model"`
	MaxInterruptChainDepth int    `toml:"max_interrupt_chain_depth"`
	MaxInterruptsPerTurn   int    `toml:"max_interrupts_per_turn"`
	MaxConversations       int    `toml:"max_conversations"`
}

// Table is a table [model.NAME] or [mcp.NAME].
type Table[T any] struct {
	Name  string
	File  *File
	Value T
}

// Read reads the user's file and the files of the project that dir is in; an empty dir is the working directory. getenv
// returns the variables that name the user's file. Errors in the files are in [Config.Problems].
func Read(dir string, getenv func(string) string) *Config {
	c := readUser(getenv)
	root, ok := workspace.Find(dir)
	if !ok {
		return c
	}
	c.Root = root
	withoutLinks, _ := filepath.EvalSymlinks(root) // "" is in no directory
	_, _, trusted := enclosing(c.Trust.Directories, withoutLinks)
	for _, name := range []string{topicsFile, workspace.ConfigFile} {
		f := &File{Name: name, Dir: root, Root: root, Trusted: trusted, config: c}
		var src []byte
		// The author of the project does not choose which files are read: no link may lead out of the project.
		parent, err := OpenDir(root, path.Dir(name), getenv)
		if err == nil {
			src, err = safefile.ReadIn(parent, path.Base(name), maxFile)
			parent.Close()
		}
		if f.load(filepath.Join(root, name), src, err) {
			c.readShared(f)
		}
	}
	return c
}

// topicsFile is the file of a JP workspace for topics. A mistake in its syntax disables no other table.
const topicsFile = ".jp/kb.toml"

// readUser returns the configuration of the user's file alone. If getenv is nil, the configuration is empty.
func readUser(getenv func(string) string) *Config {
	c := &Config{}
	if getenv == nil {
		return c
	}
	path, name := userFile(getenv)
	c.UserFile, c.Home = name, Home(getenv)
	f := &File{Name: name, Dir: filepath.Dir(path), Trusted: true, config: c}
	src, err := safefile.Read(path, maxFile)
	if !f.load(path, src, err) {
		return c
	}
	c.user = f
	f.decodeTable(&c.Trust, f.top, "trust")
	c.Trust.Directories = f.absolutePaths(c.Trust.Directories, "trust", "directories")
	c.readStores(f)
	f.decodeTable(&c.Index, f.top, "index")
	f.decodeTable(&c.Recall, f.top, "recall")
	c.readShared(f)
	return c
}

// readShared reads the tables of f that both kinds of files may have: the user's file and a project's files. Any other
// key of f is a problem, except that the user's file has some tables of its own, which are read elsewhere.
func (c *Config) readShared(f *File) {
	names := []string{"kb", "mcp", "model", "session"}
	isUsers := f.Root == "" // only the user's file has no project
	if isUsers {
		names = append(names, "index", "recall", "stores", "trust")
	}
	for _, key := range f.keysOf(nil) { // the keys outside of all tables
		if !slices.Contains(names, key) {
			f.addUnknownKey(place{key}, names)
		}
	}
	addTables(f, &c.Models, "model")
	addTables(f, &c.Servers, "mcp")
	var session Session
	f.decodeTable(&session, f.top, "session")
	if isValid := c.Wrong("session") == nil; isValid {
		c.Session.Model = cmp.Or(c.Session.Model, session.Model) // the user's file, which is read first, counts
		if isUsers {
			c.OwnModel = session.Model
		}
		// The number before a key is the greatest value that the key may have.
		f.lowerLimit(&c.Session.MaxInterruptChainDepth, session.MaxInterruptChainDepth, 64, "max_interrupt_chain_depth")
		f.lowerLimit(&c.Session.MaxInterruptsPerTurn, session.MaxInterruptsPerTurn, 10_000, "max_interrupts_per_turn")
		f.lowerLimit(&c.Session.MaxConversations, session.MaxConversations, 100_000, "max_conversations")
	}
	c.readTopics(f)
}

// addTables adds the tables [kind.NAME] of a file to list, except those whose name is in list already.
func addTables[T any](f *File, list *[]Table[T], kind string) {
	tables, names := f.table(f.top, kind)
	for _, name := range names {
		if isNew := !slices.ContainsFunc(*list, func(t Table[T]) bool { return t.Name == name }); isNew {
			t := Table[T]{Name: name, File: f}
			f.decodeTable(&t.Value, tables, kind, name)
			*list = append(*list, t)
		}
	}
}

// lowerLimit sets limit to value, the value of a key of [session] in f, if limit is greater or not set yet, which is 0.
// If f does not have the key, limit stays. A value that is not from 1 to most is a problem, and limit stays.
func (f *File) lowerLimit(limit *int, value, most int, key string) {
	switch {
	case !f.meta.IsDefined("session", key): // limit stays
	case value < 1 || value > most:
		f.addProblem(place{"session", key}, "", "%s in [session] has to be from 1 to %s", key, text.Number(most))
	case *limit == 0 || value < *limit:
		*limit = value
	}
}

// readStores reads [stores] of the user's file. Elements of exclude are paths, also patterns: a directory may be [a].
func (c *Config) readStores(f *File) {
	c.Stores.Kinds = map[string]bool{}
	f.decodeTable(&c.Stores, f.top, "stores")
	for kind, dirs := range c.Stores.Directories {
		c.Stores.Directories[kind] = f.absolutePaths(dirs, "stores", "directories", kind)
	}
	for i, written := range c.Stores.Exclude {
		f.addPattern(written, i)
	}
	c.Stores.Exclude = f.absolutePaths(c.Stores.Exclude, "stores", "exclude")
}

// addPattern adds an element of exclude in [stores] to Stores.Patterns if the element has characters of a pattern.
// written is the element, and i its index. A pattern that is not valid is a problem.
func (f *File) addPattern(written string, i int) {
	pattern := filepath.ToSlash(written)
	if below, ok := strings.CutPrefix(written, "~/"); ok {
		pattern = QuotePattern(f.config.Home) + "/" + filepath.ToSlash(below)
	}
	keyPath := place{"stores", "exclude", i}
	switch {
	case !strings.ContainsAny(written, "*?[{"): // only a path
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		f.addProblem(keyPath, "write the path without it", `%s in exclude of [stores] has "..", which a pattern cannot have`, text.Quote(written))
	case !doublestar.ValidatePattern(pattern):
		f.addProblem(keyPath, `write \[ for a bracket`, `%s in exclude of [stores] is no valid pattern: a [ or { is not closed, or it ends in \`, text.Quote(written))
	default:
		f.config.Stores.Patterns = append(f.config.Stores.Patterns, path.Clean(pattern))
	}
}
