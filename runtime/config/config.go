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

	Models  []Table[Model] // the user's before the project's
	Servers []Table[Server]
	Session Session // of both files
	// OwnModel is the model in [session] of the user's file.
	OwnModel string

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
	// Directories are, by kind of store, absolute paths of more directories to read conversations in, each like the one that
	// the program itself uses; for JP they are workspaces.
	Directories map[string][]string `toml:"directories"`
	// Kinds are the other keys of the table: kinds of stores, each true if it is read.
	Kinds map[string]bool
	// Patterns are the elements of Exclude that are also patterns of package doublestar, with slashes.
	Patterns []string
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

// Read reads the configuration for a directory; empty is the working directory. Problems has the errors in it. getenv
// finds the user's file.
func Read(dir string, getenv func(string) string) *Config {
	c := readUser(getenv)
	root, ok := workspace.Find(dir)
	if !ok {
		return c
	}
	c.Root = root
	real, _ := filepath.EvalSymlinks(root)
	_, _, trusted := c.trusted(real)
	for _, name := range []string{topicsFile, workspace.ConfigFile} {
		f := &File{Name: name, Dir: root, Root: root, Trusted: trusted, config: c}
		var src []byte
		// The author of the project does not choose which files are read: no link may lead out of it.
		dir, err := OpenDir(root, path.Dir(name), getenv)
		if err == nil {
			src, err = safefile.ReadIn(dir, path.Base(name), maxFile)
			dir.Close()
		}
		if f.decode(filepath.Join(root, name), src, err) {
			c.shared(f)
		}
	}
	return c
}

// topicsFile is the file of a JP workspace for topics. A mistake in its syntax disables no other table.
const topicsFile = ".jp/kb.toml"

// readUser reads the user's file. There is none if getenv is nil.
func readUser(getenv func(string) string) *Config {
	c := &Config{}
	if getenv == nil {
		return c
	}
	path, name := userFile(getenv)
	c.UserFile, c.Home = name, Home(getenv)
	f := &File{Name: name, Dir: filepath.Dir(path), Trusted: true, config: c}
	src, err := safefile.Read(path, maxFile)
	if !f.decode(path, src, err) {
		return c
	}
	c.user = f
	f.take(&c.Trust, f.top, "trust")
	c.Trust.Directories = f.paths(c.Trust.Directories, "trust", "directories")
	c.stores(f)
	f.take(&c.Index, f.top, "index")
	f.take(&c.Recall, f.top, "recall")
	c.shared(f)
	return c
}

// shared reads the tables that a project may have too.
func (c *Config) shared(f *File) {
	names := []string{"kb", "mcp", "model", "session"}
	if f.Root == "" {
		names = append(names, "index", "recall", "stores", "trust")
	}
	for _, key := range f.keysOf(nil) {
		if !slices.Contains(names, key) {
			f.unknown(place{key}, names)
		}
	}
	add(f, &c.Models, "model")
	add(f, &c.Servers, "mcp")
	var s Session
	f.take(&s, f.top, "session")
	if c.Wrong("session") == nil {
		c.Session.Model = cmp.Or(c.Session.Model, s.Model)
		if f.Root == "" {
			c.OwnModel = s.Model
		}
		f.limit(&c.Session.MaxInterruptChainDepth, s.MaxInterruptChainDepth, 64, "max_interrupt_chain_depth")
		f.limit(&c.Session.MaxInterruptsPerTurn, s.MaxInterruptsPerTurn, 10_000, "max_interrupts_per_turn")
		f.limit(&c.Session.MaxConversations, s.MaxConversations, 100_000, "max_conversations")
	}
	c.topics(f)
}

// add adds the tables of a kind whose names no earlier file has.
func add[T any](f *File, to *[]Table[T], kind string) {
	before := *to
	tables, names := f.table(f.top, kind)
	for _, name := range names {
		if !slices.ContainsFunc(before, func(t Table[T]) bool { return t.Name == name }) {
			t := Table[T]{Name: name, File: f}
			f.take(&t.Value, tables, kind, name)
			*to = append(*to, t)
		}
	}
}

// limit lowers a limit to the one that a file has.
func (f *File) limit(to *int, limit, most int, key string) {
	switch {
	case !f.meta.IsDefined("session", key):
	case limit < 1 || limit > most:
		f.wrong(place{"session", key}, "", "%s in [session] has to be from 1 to %s", key, text.Number(most))
	case *to == 0 || limit < *to:
		*to = limit
	}
}

// stores reads the table [stores].
func (c *Config) stores(f *File) {
	c.Stores.Kinds = map[string]bool{}
	f.take(&c.Stores, f.top, "stores")
	for kind, dirs := range c.Stores.Directories {
		c.Stores.Directories[kind] = f.paths(dirs, "stores", "directories", kind)
	}
	for i, written := range c.Stores.Exclude {
		f.pattern(written, i)
	}
	c.Stores.Exclude = f.paths(c.Stores.Exclude, "stores", "exclude")
}

// pattern adds an exclusion to the patterns if it is one. It is also the exclusion of a path: a directory may be called [a].
func (f *File) pattern(written string, i int) {
	pattern := filepath.ToSlash(written)
	if below, ok := strings.CutPrefix(written, "~/"); ok {
		pattern = QuotePattern(f.config.Home) + "/" + filepath.ToSlash(below)
	}
	at, wrong := place{"stores", "exclude", i}, "%s in exclude of [stores] "
	switch {
	case !strings.ContainsAny(written, "*?[{"):
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		f.wrong(at, "write the path without it", wrong+`has "..", which a pattern cannot have`, text.Quote(written))
	case !doublestar.ValidatePattern(pattern):
		f.wrong(at, `write \[ for a bracket`, wrong+`is no valid pattern: a [ or { is not closed, or it ends in \`, text.Quote(written))
	default:
		f.config.Stores.Patterns = append(f.config.Stores.Patterns, path.Clean(pattern))
	}
}
