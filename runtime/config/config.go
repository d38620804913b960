// Package config reads the configuration files: the user's own, and those of the project that a directory is in. It is
// the one place that knows which tables and keys there are.
//
//	~/.config/convtools/convtools.toml    stores, index, recall and trust, and all that a project may say
//	convtools.toml                        kb, model, mcp and session
//	.jp/kb.toml                           kb
//
// A table that is wrong disables what it configures, and no more: see [Problem]. What may be meant to restrict what is
// read of conversations, wherever it stands, disables reading them.
//
// A project may be a clone of somebody else's repository. The user's [model.NAME] and [mcp.NAME] take the place of the
// project's as a whole, so that no project can send a key of the user's elsewhere; a project can lower a limit of the
// user's, but not raise it; it names directories inside of itself; and what else it may do depends on [Source.Trusted].
//
// The package judges names, types and places. What a value means is for who uses it to judge. It runs nothing, and
// writes nothing but in [AddDirectory].
package config

import (
	"cmp"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/workspace"
)

// Config is what the files say, together.
type Config struct {
	UserFile string // what the user's file is called in messages; empty where it is not known where that is
	Root     string // the directory of the project; empty where there is none

	Stores  Stores
	Index   Index
	Recall  Recall
	Trusted []string // absolute paths of directories, as they are written: they may be links, and may not exist

	Models  []Table[Model] // the user's before the project's
	Servers []Table[Server]
	Session Session // of both files
	// OwnModel is the model in [session] of the user's file.
	OwnModel string

	Topics []Topic // in the order in which they are first mentioned

	Problems []Problem

	Home string    // the user's home directory
	user *document // nil where there is none
}

// Stores is the table [stores]: which conversations are read.
type Stores struct {
	Off []string `toml:"off"` // kinds of stores that are not read
	// Exclude are the absolute paths of directories of which, and of all below which, no conversations are read.
	Exclude []string `toml:"exclude"`
	// Directories are, by kind of store, the absolute paths of directories in which conversations are looked for too,
	// each as the one that the program itself uses; of JP they are workspaces.
	Directories map[string][]string `toml:"directories"`
	// Kinds is what the table has besides: a kind of store, and whether it is on.
	Kinds map[string]bool `toml:"-"`
	// Patterns are those of Exclude that are patterns as well, as package doublestar has them, with slashes.
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

// Session is the table [session]. Limits are 0 where no file names them.
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
	Dir     string // that relative paths begin at
	Root    string // of the project; empty for the user's file
	Trusted bool   // it is the user's own, or of a project that the user trusts
}

// Read reads the configuration for a directory; empty stands for the working directory. What is wrong with it is among
// its Problems. getenv finds the user's file.
func Read(dir string, getenv func(string) string) *Config {
	c := readUser(getenv)
	root, ok := workspace.Find(dir)
	if !ok {
		return c
	}
	c.Root = root
	from := &Source{Name: workspace.ConfigFile, Dir: root, Root: root, Trusted: c.trusts(root)}
	for _, name := range []string{topicsFile, workspace.ConfigFile} {
		d := c.open(from, name, func() ([]byte, error) { return readIn(root, name, getenv) })
		switch {
		case d == nil:
		case name == topicsFile:
			d.known("kb")
			c.topics(d)
		default:
			c.shared(d)
		}
	}
	return c
}

// topicsFile is the file of a JP workspace that has topics and nothing else.
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
	d := c.open(from, name, func() ([]byte, error) { return read(path) })
	if c.user = d; d == nil {
		return c
	}
	var trust struct {
		Directories []string `toml:"directories"`
	}
	d.take(&trust, "trust")
	c.Trusted = d.paths(trust.Directories, "trust", "directories")
	c.stores(d)
	d.take(&c.Index, "index")
	d.take(&c.Recall, "recall")
	c.shared(d)
	return c
}

// shared takes the tables that a project may have too.
func (c *Config) shared(d *document) {
	d.known("kb", "mcp", "model", "session")
	add(d, &c.Models, "model")
	add(d, &c.Servers, "mcp")
	var s Session
	if d.take(&s, "session") {
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

// add adds the tables of a kind, as far as no file before has one of that name.
func add[T any](d *document, to *[]Table[T], kind string) {
	before := *to
	for _, name := range d.tables(kind) {
		if slices.ContainsFunc(before, func(t Table[T]) bool { return t.Name == name }) {
			continue
		}
		t := Table[T]{Name: name, From: d.from}
		d.take(&t.Is, kind, name)
		*to = append(*to, t)
	}
}

// limit takes a limit, which a file can lower only.
func (d *document) limit(to *int, said, most int, key string) {
	_, given := d.get("session", key)
	switch {
	case !given:
	case said < 1 || said > most:
		d.wrong([]string{"session"}, d.at(place{"session", key}), "", "%s in [session] has to be from 1 to %s", key, text.Number(most))
	case *to == 0 || said < *to:
		*to = said
	}
}

func (c *Config) stores(d *document) {
	if !d.take(&c.Stores, "stores") {
		return
	}
	c.Stores.Kinds = map[string]bool{}
	known := fields(reflect.TypeFor[Stores]())
	for _, name := range d.tables("stores") {
		on := false
		if !slices.Contains(known, name) && d.take(&on, "stores", name) {
			c.Stores.Kinds[name] = on
		}
	}
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

// pattern takes an exclusion that is a pattern. It is one of a path as well: a directory may be called [a].
func (d *document) pattern(written string, i int) {
	pattern := filepath.ToSlash(written)
	if below, ok := strings.CutPrefix(written, "~/"); ok {
		pattern = QuotePattern(d.config.Home) + "/" + filepath.ToSlash(below)
	}
	problem, hint := "", ""
	switch {
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		problem, hint = `has "..", which a pattern cannot have`, "write the path without it"
	case !doublestar.ValidatePattern(pattern):
		problem, hint = `is no valid pattern: a [ or { is not closed, or it ends in \`, `write \[ for a bracket`
	default:
		d.config.Stores.Patterns = append(d.config.Stores.Patterns, path.Clean(pattern))
		return
	}
	d.wrong([]string{"stores"}, d.at(place{"stores", "exclude", i}), hint, "%s in exclude of [stores] %s", text.Quote(written), problem)
}
