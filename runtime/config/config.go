// Package config reads the configuration files: the user's own, and those of the project that a directory is in. It is
// the one place that knows which tables and keys there are.
//
//	~/.config/convtools/convtools.toml    stores, index, recall and trust, and all that a project may have
//	convtools.toml                        kb, model, mcp and session
//	.jp/kb.toml                           kb
//
// A table that is wrong disables what it configures, and no more: see [Problem]. An unknown key that may be meant to
// exclude conversations disables reading them.
//
// A project may be a clone of somebody else's repository. The user's [model.NAME] and [mcp.NAME] replace the
// project's as a whole, so that no project can send a key of the user's elsewhere; a project can lower a limit of the
// user's, but not raise it; it names directories inside of itself; [Source.Trusted] decides what else it may do.
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

	Stores  Stores
	Index   Index
	Recall  Recall
	Trusted []string // absolute paths of directories, as written: they may be links, and may not exist

	Models  []Table[Model] // the user's before the project's
	Servers []Table[Server]
	Session Session // of both files
	// OwnModel is the model in [session] of the user's file.
	OwnModel string

	Topics []Topic // in the order in which they are first mentioned

	Problems []Problem

	Home string    // the user's home directory
	user *document // nil if there is none
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
	Kinds map[string]bool `toml:"-"`
	// Patterns are the elements of Exclude that are also patterns of package doublestar, with slashes.
	Patterns []string `toml:"-"`
}

// Index is the table [index].
type Index struct {
	Off bool `toml:"off"`
}

// Recall is the table [recall]: how questions are answered.
type Recall struct {
	Language string `toml:"language"`
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
	Name string
	From *Source
	Is   T
}

// Source is a configuration file.
type Source struct {
	Name    string // in messages
	Dir     string // the base of relative paths
	Root    string // of the project; empty for the user's file
	Trusted bool   // it is the user's own, or of a project that the user trusts
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
	from := &Source{Name: workspace.ConfigFile, Dir: root, Root: root}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		_, _, from.Trusted = c.trusted(real)
	}
	for _, name := range []string{topicsFile, workspace.ConfigFile} {
		src, err := readIn(root, name, getenv)
		c.shared(c.decode(from, name, filepath.Join(root, name), src, err))
	}
	return c
}

// topicsFile is the file of a JP workspace that has topics only.
const topicsFile = ".jp/kb.toml"

// readUser reads the user's file.
func readUser(getenv func(string) string) *Config {
	c := &Config{}
	path, name, ok := UserFile(getenv)
	if !ok {
		return c
	}
	c.UserFile, c.Home = name, Home(getenv)
	from := &Source{Name: name, Dir: filepath.Dir(path), Trusted: true}
	src, err := safefile.Read(path, maxFile)
	d := c.decode(from, name, path, src, err)
	if c.user = d; d == nil {
		return c
	}
	var trust struct {
		Directories []string `toml:"directories"`
	}
	d.take(&trust, d.top, "trust")
	c.Trusted = d.paths(trust.Directories, "trust", "directories")
	c.stores(d)
	d.take(&c.Index, d.top, "index")
	d.take(&c.Recall, d.top, "recall")
	c.shared(d)
	return c
}

// shared reads the tables that a project may have too. It does nothing without a document.
func (c *Config) shared(d *document) {
	if d == nil {
		return
	}
	d.checkTables()
	add(d, &c.Models, "model")
	add(d, &c.Servers, "mcp")
	var s Session
	if d.take(&s, d.top, "session") {
		c.Session.Model = cmp.Or(c.Session.Model, s.Model)
		if d.from.Root == "" {
			c.OwnModel = s.Model
		}
		d.limit(&c.Session.MaxInterruptChainDepth, s.MaxInterruptChainDepth, 64, "max_interrupt_chain_depth")
		d.limit(&c.Session.MaxInterruptsPerTurn, s.MaxInterruptsPerTurn, 10_000, "max_interrupts_per_turn")
		d.limit(&c.Session.MaxConversations, s.MaxConversations, 100_000, "max_conversations")
	}
	c.topics(d)
}

// add adds the tables of a kind whose names no earlier file has.
func add[T any](d *document, to *[]Table[T], kind string) {
	before := *to
	tables, names := d.table(d.top, kind)
	for _, name := range names {
		if !slices.ContainsFunc(before, func(t Table[T]) bool { return t.Name == name }) {
			t := Table[T]{Name: name, From: d.from}
			d.take(&t.Is, tables, kind, name)
			*to = append(*to, t)
		}
	}
}

// limit lowers a limit to the one that a file has.
func (d *document) limit(to *int, limit, most int, key string) {
	at := place{"session", key}
	switch {
	case !d.meta.IsDefined("session", key):
	case limit < 1 || limit > most:
		d.wrong(at, "", "%s in [session] has to be from 1 to %s", key, text.Number(most))
	case *to == 0 || limit < *to:
		*to = limit
	}
}

func (c *Config) stores(d *document) {
	c.Stores.Kinds = map[string]bool{}
	d.take(&c.Stores, d.top, "stores")
	for kind, dirs := range c.Stores.Directories {
		c.Stores.Directories[kind] = d.paths(dirs, "stores", "directories", kind)
	}
	for i, written := range c.Stores.Exclude {
		if strings.ContainsAny(written, "*?[{") {
			d.pattern(written, i)
		}
	}
	c.Stores.Exclude = d.paths(c.Stores.Exclude, "stores", "exclude")
}

// pattern adds an exclusion that is a pattern. It is also the exclusion of a path: a directory may be called [a].
func (d *document) pattern(written string, i int) {
	pattern := filepath.ToSlash(written)
	if below, ok := strings.CutPrefix(written, "~/"); ok {
		pattern = QuotePattern(d.config.Home) + "/" + filepath.ToSlash(below)
	}
	at, wrong := place{"stores", "exclude", i}, "%s in exclude of [stores] "
	switch {
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		d.wrong(at, "write the path without it", wrong+`has "..", which a pattern cannot have`, text.Quote(written))
	case !doublestar.ValidatePattern(pattern):
		d.wrong(at, `write \[ for a bracket`, wrong+`is no valid pattern: a [ or { is not closed, or it ends in \`, text.Quote(written))
	default:
		d.config.Stores.Patterns = append(d.config.Stores.Patterns, path.Clean(pattern))
	}
}
