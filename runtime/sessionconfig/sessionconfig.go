// Package sessionconfig reads what the configuration files of the user and of a project say of sessions: which models
// there are, which MCP servers, and the limits.
//
//	[model.NAME]
//	api = "responses"            # responses, chat, messages, command or scripted
//	base_url = "http://127.0.0.1:8080/v1"
//	model = "name-of-the-model"
//	key_env = "SOME_API_KEY"     # or key_command = ["pass", "show", "key"]
//
//	[mcp.NAME]
//	command = "server"           # or url = "http://127.0.0.1:9000/mcp"
//	args = ["--stdio"]
//	env = { LEVEL = "info" }
//
//	[session]
//	model = "NAME"               # where --model names none
//	max_interrupt_chain_depth = 4
//	max_interrupts_per_turn = 32
//	max_conversations = 64
//
// The user's file wins: a table [model.NAME] or [mcp.NAME] of it replaces the project's as a whole, so that no project
// can send a key of the user's elsewhere; its [session] model comes before the project's; and a project can lower a
// limit of the user's, but not raise it.
//
// A project may be a clone of somebody else's repository. Its file must not run a program (command, key_command, an MCP
// server), send a variable of the environment anywhere (key_env), send a conversation to another machine (base_url, url),
// or read a file outside of the project (script), unless the project is in a directory that the user trusts; see package
// trust. For a model, it is enough that the user names it, with --model: what that is, the project does not choose. A
// server on this machine may get a conversation, and nothing else: who listens at a port is not known.
//
// A table [model.NAME] or [mcp.NAME] that is wrong costs itself, and no other takes its place. What is wrong with
// [session], or may be meant to restrict, is an error of the file.
//
// The package reads these files and runs nothing by itself; [Model.Open] does not either. It must never show a key.
package sessionconfig

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/workspace"
	"github.com/convtools/convtools/runtime/trust"
)

// maxFile is the size in bytes of the largest file that is read: a configuration or a script.
const maxFile = 1 << 20

// Config is what the configuration files say of sessions.
type Config struct {
	Models  []Model  // by name
	Servers []Server // by name; those that the user trusts
	// LeftOut are the servers of the project that the user does not trust.
	LeftOut []*TrustError
	// Wrong are the tables that cannot be used: the models are among Models, and chosen by nobody.
	Wrong   []*Error
	Session Session

	servers  []string // the names of all, whatever becomes of them
	userFile string   // what the user's file is called in messages; may be empty
	usersOwn string   // [session] model of the user's file
}

// Session is the table [session]. Limits are 0 where no file names them.
type Session struct {
	Model                  string
	MaxInterruptChainDepth int
	MaxInterruptsPerTurn   int
	MaxConversations       int
}

// Server is a table [mcp.NAME]: an MCP server, which is a program or an address.
type Server struct {
	Name    string            `toml:"-"` // of letters, digits and hyphens, 32 at most
	Command string            `toml:"command"`
	Args    []string          `toml:"args"`
	Env     map[string]string `toml:"env"` // in addition to what every program gets
	URL     string            `toml:"url"` // over streamable HTTP
	File    string            `toml:"-"`   // that it is configured in, for messages
}

// Error is the error for a configuration that cannot be used.
type Error struct {
	File     string // what the file is called in messages
	Problems []string
	Err      error // where the file cannot be read or is no TOML; else nil
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("reading %s: %s", e.File, e.Err)
	}
	return e.File + ": " + strings.Join(e.Problems, "; ")
}

func (e *Error) Unwrap() error { return e.Err }

// TrustError is the error for a setting that the user has to trust a project for.
type TrustError struct {
	Table    string // model.NAME or mcp.NAME
	File     string // that it stands in
	Does     string // what the setting does, as "runs a program"
	Root     string // the directory of the project
	UserFile string // what the user's configuration file is called; may be empty
}

func (e *TrustError) Error() string {
	message := fmt.Sprintf("[%s] of the project's %s %s, which a project may do only if you trust it", e.Table, e.File, e.Does)
	if name, ok := strings.CutPrefix(e.Table, "model."); ok {
		message += "; to use it this once, name it: --model " + name
	}
	if e.UserFile != "" {
		message += fmt.Sprintf("; to trust the project, add %s to directories in [trust] of %s", text.Quote(filepath.ToSlash(e.Root)), e.UserFile)
	}
	return message
}

// source is a configuration file.
type source struct {
	name    string // in messages
	dir     string // that relative paths begin at
	root    string // of the project; empty for the user's file
	trusted bool   // the user's own, or of a project that the user trusts
	models  map[string]modelTable
	servers map[string]Server
	session sessionTable
	// wrong is what is wrong with a table, a sentence, by its name, as model.NAME.
	wrong map[string]string
}

type sessionTable struct {
	Model     string `toml:"model"`
	Depth     *int   `toml:"max_interrupt_chain_depth"`
	Turns     *int   `toml:"max_interrupts_per_turn"`
	Conversed *int   `toml:"max_conversations"`
}

// Load reads the configuration for a directory: the user's file, which getenv finds, and the file convtools.toml of the
// project that the directory is in. Without the files it is empty. The error is an [*Error].
func Load(dir string, getenv func(string) string) (Config, error) {
	var c Config
	var sources []source
	if path, name, ok := trust.UserFile(getenv); ok {
		c.userFile = name
		user := source{name: name, dir: filepath.Dir(path), trusted: true}
		src, err := safefile.Read(path, maxFile)
		found, err := user.read(path, src, err, getenv)
		if err != nil {
			return c, err
		}
		if found {
			sources = append(sources, user)
		}
	}
	if root, ok := workspace.Find(dir); ok {
		project := source{name: workspace.ConfigFile, dir: root, root: root}
		src, err := readIn(root, workspace.ConfigFile)
		found, err := project.read(filepath.Join(root, workspace.ConfigFile), src, err, getenv)
		if err != nil {
			return c, err
		}
		if found {
			if project.trusted, err = trusts(root, getenv); err != nil {
				return c, err
			}
			sources = append(sources, project)
		}
	}
	for _, s := range sources {
		if err := c.add(s, getenv); err != nil {
			return c, err
		}
	}
	slices.SortFunc(c.Models, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return c, nil
}

// readIn reads a file of a project. Links are followed within it: who made the project does not choose what is read.
func readIn(dir, name string) ([]byte, error) {
	root, err := safefile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return safefile.ReadIn(root, name, maxFile)
}

// read decodes the file at a path, unless err is why it cannot be read, and reports whether it exists.
func (s *source) read(path string, src []byte, err error, getenv func(string) string) (bool, error) {
	if errors.Is(err, fs.ErrNotExist) {
		if _, missing := os.Lstat(path); missing != nil {
			return false, nil
		}
		err = errors.New("it is a link to a file that does not exist")
	}
	if err != nil {
		return false, &Error{File: s.name, Err: err}
	}
	document := strings.TrimPrefix(string(src), "\ufeff")
	var file map[string]any
	var tables struct {
		Model   map[string]toml.Primitive `toml:"model"`
		MCP     map[string]toml.Primitive `toml:"mcp"`
		Session sessionTable              `toml:"session"`
	}
	_, err = toml.Decode(document, &file)
	var meta toml.MetaData
	if err == nil {
		meta, err = toml.Decode(document, &tables)
	}
	if err != nil {
		return false, &Error{File: s.name, Err: err}
	}
	s.session, s.wrong = tables.Session, map[string]string{}
	s.models = decodeAll[modelTable](s, &meta, "model", tables.Model)
	s.servers = decodeAll[Server](s, &meta, "mcp", tables.MCP)
	if problems := append(s.restricts(file, getenv), s.unknown(meta.Undecoded())...); problems != nil {
		return false, &Error{File: s.name, Problems: problems}
	}
	return true, nil
}

// decodeAll decodes the tables of one kind.
func decodeAll[T any](s *source, meta *toml.MetaData, kind string, tables map[string]toml.Primitive) map[string]T {
	decoded := map[string]T{}
	for name, primitive := range tables {
		var table T
		if err := meta.PrimitiveDecode(primitive, &table); err != nil {
			s.wrong[kind+"."+name] = inTable(kind+"."+name, err.Error())
		}
		decoded[name] = table
	}
	return decoded
}

// inTable is a sentence about a table.
func inTable(table, sentence string) string {
	return fmt.Sprintf("[%s] %s", text.Line(text.Cut(table, 90)), sentence)
}

// restricts returns what of a decoded file may be meant to restrict something, and restricts nothing.
func (s *source) restricts(file map[string]any, getenv func(string) string) []string {
	var problems []trust.Problem
	if s.root == "" {
		_, problems = trust.Parse(file, trust.Home(getenv))
		problems = append(problems, trust.Misplaced(file, nil)...)
	} else {
		problems = trust.MisplacedInProject(file, getenv)
	}
	for _, p := range trust.Unread(file, s.root != "") {
		if near.Name(p.Key[0], trust.Tables(s.root != "")) == "session" { // which has limits
			problems = append(problems, p)
		}
	}
	var texts []string
	for i := range problems {
		texts = append(texts, problems[i].Error())
	}
	return texts
}

// unknown looks at the keys that nothing has read. It returns what is wrong with those of [session].
func (s *source) unknown(keys []toml.Key) []string {
	var problems []string
	for _, key := range keys {
		known, depth := []string{"max_conversations", "max_interrupt_chain_depth", "max_interrupts_per_turn", "model"}, 2
		switch key[0] {
		case "model":
			known, depth = modelKeys(), 3
		case "mcp":
			known, depth = []string{"args", "command", "env", "url"}, 3
		case "session":
		default:
			continue // another package's
		}
		if len(key) != depth {
			continue // the key around it is reported
		}
		name, table := key[depth-1], strings.Join(key[:depth-1], ".")
		hint := "known here: " + strings.Join(known, ", ")
		if near := near.Name(name, known); near != "" {
			hint = "did you mean " + text.Quote(near) + "?"
		}
		problem := fmt.Sprintf("unknown key %s in [%s]; %s", text.Quote(name), text.Line(text.Cut(table, 80)), hint)
		if depth == 2 {
			problems = append(problems, problem)
		} else {
			s.wrong[table] = cmp.Or(s.wrong[table], problem)
		}
	}
	return problems
}

// trusts reports whether a directory is one that the user trusts, or below one.
func trusts(root string, getenv func(string) string) (bool, error) {
	dirs, err := trust.Directories(getenv)
	if err != nil {
		_, name, _ := trust.UserFile(getenv)
		return false, &Error{File: name, Err: err}
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false, nil
	}
	for _, dir := range dirs {
		if dir, err := filepath.EvalSymlinks(dir); err == nil {
			if below, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(below) {
				return true, nil
			}
		}
	}
	return false, nil
}

// add adds what a file says, as far as no file before it has said it.
func (c *Config) add(s source, getenv func(string) string) error {
	problem := func(table, sentence string) string {
		if said := s.wrong[table]; said != "" || sentence == "" {
			return said
		}
		return inTable(table, sentence)
	}
	wrong := func(sentence string) *Error {
		c.Wrong = append(c.Wrong, &Error{File: s.name, Problems: []string{sentence}})
		return c.Wrong[len(c.Wrong)-1]
	}
	for _, name := range slices.Sorted(maps.Keys(s.models)) {
		if slices.ContainsFunc(c.Models, func(m Model) bool { return m.Name == name }) {
			continue
		}
		m := Model{Name: name, File: s.name, source: s, table: s.models[name], getenv: getenv, userFile: c.userFile}
		sentence := m.check()
		if !validName(name, 64) {
			sentence = "is not a name: it has to be 1 to 64 letters, digits, hyphens, underscores and dots"
		}
		if sentence = problem("model."+name, sentence); sentence != "" {
			m.wrong = wrong(sentence)
		}
		c.Models = append(c.Models, m)
	}
	for _, name := range slices.Sorted(maps.Keys(s.servers)) {
		if slices.Contains(c.servers, name) {
			continue
		}
		c.servers = append(c.servers, name)
		t := s.servers[name]
		sentence := t.problem()
		if strings.ContainsAny(name, "_.") || !validName(name, 32) {
			sentence = "is not a name: it has to be 1 to 32 letters, digits and hyphens"
		}
		if sentence = problem("mcp."+name, sentence); sentence != "" {
			wrong(sentence)
			continue
		}
		does := ""
		switch {
		case t.Command != "":
			does = "runs a program"
		case !onLoopback(t.URL):
			does = "connects to another machine"
		}
		if does != "" && !s.trusted {
			c.LeftOut = append(c.LeftOut, &TrustError{Table: "mcp." + name, File: s.name, Does: does, Root: s.root, UserFile: c.userFile})
			continue
		}
		t.Name, t.File = name, s.name
		c.Servers = append(c.Servers, t)
	}
	var problems []string
	said := s.session
	c.Session.Model = cmp.Or(c.Session.Model, said.Model)
	if s.root == "" {
		c.usersOwn = said.Model
	}
	for _, limit := range []struct {
		key   string
		said  *int
		most  int
		value *int
	}{
		{"max_interrupt_chain_depth", said.Depth, 64, &c.Session.MaxInterruptChainDepth},
		{"max_interrupts_per_turn", said.Turns, 10_000, &c.Session.MaxInterruptsPerTurn},
		{"max_conversations", said.Conversed, 100_000, &c.Session.MaxConversations},
	} {
		switch {
		case limit.said == nil:
		case *limit.said < 1 || *limit.said > limit.most:
			problems = append(problems, inTable("session", fmt.Sprintf("%s has to be from 1 to %s", limit.key, text.Number(limit.most))))
		case *limit.value == 0 || *limit.said < *limit.value:
			*limit.value = *limit.said
		}
	}
	if problems != nil {
		return &Error{File: s.name, Problems: problems}
	}
	return nil
}

func (t Server) problem() string {
	switch {
	case (t.Command == "") == (t.URL == ""):
		return "needs either command or url"
	case t.URL != "" && (t.Args != nil || t.Env != nil):
		return "has args or env, which only a command takes"
	case t.URL != "":
		_, problem := address(t.URL)
		return problem
	}
	return ""
}

// address parses an address of a server, or returns what is wrong with it. It is not repeated: it may hold a secret
// that does not belong there.
func address(s string) (*url.URL, string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, "needs an address that begins with http:// or https://"
	case u.User != nil:
		return nil, "has a user or a password in its address, which would be shown: remove it"
	case u.RawQuery != "" || u.Fragment != "":
		return nil, "has an address with a query or a fragment: remove it"
	}
	return u, ""
}

func validName(name string, most int) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' {
			return false
		}
	}
	return name != "" && len(name) <= most
}
