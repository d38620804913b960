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
// config. For a model, it is enough that the user names it, with --model: what that is, the project does not choose. A
// server on this machine may get a conversation, and nothing else: who listens at a port is not known.
//
// A table [model.NAME] or [mcp.NAME] that is wrong costs itself, and no other takes its place. What is wrong with
// [session] is an error of the file.
//
// The package judges what package config has read, and runs nothing by itself; [Model.Open] does not either. It must
// never show a key.
package sessionconfig

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
)

// Config is what the configuration files say of sessions.
type Config struct {
	Models  []Model  // by name
	Servers []Server // by name; those that the user trusts
	// LeftOut are the servers of the project that the user does not trust.
	LeftOut []error
	// Wrong are the tables that cannot be used: the models are among Models, and chosen by nobody.
	Wrong   []error
	Session config.Session

	userFile string // what the user's file is called in messages; may be empty
	usersOwn string // [session] model of the user's file
}

// Server is a table [mcp.NAME].
type Server struct {
	Name string // of letters, digits and hyphens, 32 at most
	config.Server
}

// Error is the error for a configuration that cannot be used.
type Error = config.Error

// untrusted is the error for a table of a project that the user has to trust the project for, since it does something.
func untrusted(table string, from *config.Source, does, userFile string) error {
	message := fmt.Sprintf("[%s] of the project's %s %s, which a project may do only if you trust it", table, from.Name, does)
	if name, ok := strings.CutPrefix(table, "model."); ok {
		message += "; to use it this once, name it: --model " + name
	}
	if userFile != "" {
		message += fmt.Sprintf("; to trust the project, add %s to directories in [trust] of %s", text.Quote(filepath.ToSlash(from.Root)), userFile)
	}
	return errors.New(message)
}

// Load reads the configuration for a directory: the user's file, which getenv finds, and the file convtools.toml of the
// project that the directory is in. Without the files it is empty. The error is an [*Error].
func Load(dir string, getenv func(string) string) (Config, error) {
	read := config.Read(dir, getenv)
	if err := read.Wrong("session"); err != nil {
		return Config{userFile: read.UserFile}, err
	}
	c := Config{Session: read.Session, userFile: read.UserFile, usersOwn: read.OwnModel}
	for _, kind := range []string{"model", "mcp", "trust"} {
		if err := read.Wrong(kind); err != nil {
			c.Wrong = append(c.Wrong, err)
		}
	}
	for _, t := range read.Models {
		m := Model{Name: t.Name, source: t.From, table: t.Is, getenv: getenv, userFile: c.userFile}
		m.wrong = c.judge(read, t.From, []string{"model", t.Name}, m.check(), 64)
		c.Models = append(c.Models, m)
	}
	for _, t := range read.Servers {
		if c.judge(read, t.From, []string{"mcp", t.Name}, problem(t.Is), 32) == nil {
			c.server(t)
		}
	}
	slices.SortFunc(c.Models, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Servers, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return c, nil
}

// judge returns what is wrong with a table: with its keys, its name, or what its values mean.
func (c *Config) judge(read *config.Config, from *config.Source, table []string, sentence string, most int) error {
	if !validName(table[1], most) || table[0] == "mcp" && strings.ContainsAny(table[1], "_.") {
		sentence = fmt.Sprintf("is not a name: it has to be 1 to %d letters, digits and hyphens", most)
		if table[0] == "model" {
			sentence = fmt.Sprintf("is not a name: it has to be 1 to %d letters, digits, hyphens, underscores and dots", most)
		}
	}
	err := read.Wrong(table[0] + "." + table[1])
	if err == nil && sentence != "" {
		err = from.Wrong(table, sentence)
	}
	if err != nil {
		c.Wrong = append(c.Wrong, err)
	}
	return err
}

// server adds a server, unless only a trusted project may have it.
func (c *Config) server(t config.Table[config.Server]) {
	does := ""
	switch {
	case t.Is.Command != "":
		does = "runs a program"
	case !onLoopback(t.Is.URL):
		does = "connects to another machine"
	}
	if does != "" && !t.From.Trusted {
		c.LeftOut = append(c.LeftOut, untrusted("mcp."+t.Name, t.From, does, c.userFile))
		return
	}
	c.Servers = append(c.Servers, Server{t.Name, t.Is})
}

func problem(t config.Server) string {
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
	plain := strings.ReplaceAll(name, ".", "")
	return name != "" && len(name) <= most && (plain == "" || model.Flat(plain) == plain)
}
