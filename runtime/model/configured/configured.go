// Package configured is the models of the configuration, the tables [model.NAME]: it says which tables are wrong,
// chooses a model, and opens it.
//
//	[model.NAME]
//	api = "responses"            # responses, chat, messages, command or scripted
//	base_url = "http://127.0.0.1:8080/v1"
//	model = "name-of-the-model"
//	key_env = "SOME_API_KEY"     # or key_command = ["pass", "show", "key"]
//
// A project may be a clone of somebody else's repository. Unless the user trusts it, or names the model with --model, its
// file must not run a program, send a variable of the environment anywhere, send a conversation to another machine, or
// read a file outside of the project. A server on this machine may get a conversation, and nothing else: who listens at a
// port is not known.
//
// The package must never show a key.
package configured

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/provider"
)

// Model is a table [model.NAME].
type Model struct {
	config.Table[config.Model]
	read *config.Config
}

// The values of api that are no HTTP interface.
const (
	command  = "command"
	scripted = "scripted"
)

// keysOf returns the keys that go with an interface. It needs the first one.
func keysOf(api string) []string {
	switch api {
	case command:
		return []string{"command", "input", "output", "pass_env", "timeout"}
	case scripted:
		return []string{"script"}
	}
	keys := []string{"model", "base_url", "key_env", "key_command", "pass_env", "max_output_tokens", "timeout", "request"}
	if api != string(provider.Chat) {
		keys = append(keys, "web_search")
	}
	return keys
}

// Tools reports whether the model can call tools.
func (m Model) Tools() bool { return m.Is.API != command }

// HTTP reports whether the model is asked over HTTP.
func (m Model) HTTP() bool { return m.Is.API != command && m.Is.API != scripted }

// Judge adds the models that are wrong to the problems of a configuration.
func Judge(c *config.Config) {
	for _, t := range c.Models {
		sentence := Model{t, c}.check()
		if plain := strings.ReplaceAll(t.Name, ".", ""); t.Name == "" || len(t.Name) > 64 || plain != "" && model.Flat(plain) != plain {
			sentence = "is not a name: it has to be 1 to 64 letters, digits, hyphens, underscores and dots"
		}
		c.JudgeTable(t.From, "model."+t.Name, sentence)
	}
}

// check returns what is wrong with a table, and an empty text where nothing is.
func (m Model) check() string {
	t := m.Is
	apis := []string{string(provider.Responses), string(provider.Chat), string(provider.Messages), command, scripted}
	if !slices.Contains(apis, t.API) {
		hint := "it has to be one of " + strings.Join(apis, ", ")
		if near := near.Name(t.API, apis); near != "" {
			hint = "did you mean " + near + "?"
		}
		return "has api = " + text.Quote(t.API) + "; " + hint
	}
	keys, table := keysOf(t.API), reflect.ValueOf(t)
	for i := range table.NumField() {
		key, set := table.Type().Field(i).Tag.Get("toml"), !table.Field(i).IsZero()
		switch {
		case set && key != "api" && !slices.Contains(keys, key):
			return fmt.Sprintf("has %s, which does not go with api = %q", key, t.API)
		case !set && key == keys[0]:
			return "has no " + key + ": see convtools help query"
		}
	}
	for key, argv := range map[string][]string{"command": t.Command, "key_command": t.KeyCommand} {
		if argv != nil && (len(argv) == 0 || argv[0] == "") {
			return "has no program in " + key
		}
	}
	for _, form := range []string{t.Input, t.Output} {
		if form != "" && form != "text" && form != "json" {
			return "has input or output = " + text.Quote(form) + "; it has to be text or json"
		}
	}
	switch {
	case t.KeyEnv != "" && t.KeyCommand != nil:
		return "has both key_env and key_command"
	case t.MaxOutputTokens < 0 || t.Timeout < 0:
		return "has a negative max_output_tokens or timeout"
	}
	for _, key := range provider.Reserved() {
		if _, ok := t.Request[key]; ok {
			return "has request." + key + ", which is not the configuration's to choose"
		}
	}
	return Address(t.BaseURL)
}

// does returns what only the user may have a model do, and an empty text where it does nothing of the kind.
func (m Model) does() string {
	switch t := m.Is; {
	case t.Command != nil:
		return "runs a program"
	case t.KeyCommand != nil:
		return "runs a program for the key"
	case t.KeyEnv != "": // to this machine too: others may listen there, or it leads to another one
		return "sends a variable of the environment as a key"
	case m.HTTP() && !OnLoopback(t.BaseURL):
		return "sends the conversation to another machine"
	case t.Script != "" && !filepath.IsLocal(filepath.FromSlash(t.Script)):
		return "reads a script outside of the project"
	}
	return ""
}

// NoModelError is the error where no model applies.
type NoModelError struct {
	Name     string   // that was asked for; empty for none
	Known    []string // the names of those that there are
	UserFile string   // what the user's configuration file is called; may be empty
}

func (e *NoModelError) Error() string {
	known := text.Line(strings.Join(e.Known, ", "))
	switch {
	case len(e.Known) == 0:
		return "no model is configured; add a table [model.NAME] to " + cmp.Or(e.UserFile, "convtools.toml")
	case e.Name == "":
		return `there are several models; name one with --model, or with model = "NAME" in [session]: ` + known
	}
	hint := "there are: " + known
	if near := near.Name(e.Name, e.Known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return "there is no model " + text.Quote(e.Name) + "; " + hint
}

// Names returns the names of the models, in order.
func Names(c *config.Config) []string {
	var names []string
	for _, t := range c.Models {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}

// Choose returns the model with a name that the user has given. Where it is empty, the model is that of [session] in the
// user's file, and else in the project's; else the only one that the user's file has; else, where that has none, the
// only one of the project. The error is a [*NoModelError], a [*config.Error] for a model whose table is wrong, or says
// that a project has to be trusted, for a model that the user has not named.
func Choose(c *config.Config, name string) (Model, error) {
	own := cmp.Or(name, c.OwnModel)
	wanted := cmp.Or(own, c.Session.Model)
	users := slices.ContainsFunc(c.Models, func(t config.Table[config.Model]) bool { return t.From.Root == "" })
	var found []Model
	for _, t := range c.Models {
		if t.Name == wanted || wanted == "" && (t.From.Root == "" || !users) {
			found = append(found, Model{t, c})
		}
	}
	switch {
	case len(found) != 1:
		return Model{}, &NoModelError{Name: wanted, Known: Names(c), UserFile: c.UserFile}
	case own != "":
		return found[0], c.Wrong("model." + found[0].Name)
	}
	return found[0], found[0].Trusted()
}

// Trusted returns why a model cannot be used that the user has not named.
func (m Model) Trusted() error {
	table := "model." + m.Name
	if err := m.read.Wrong(table); err != nil {
		return err
	}
	return Untrusted(m.read, m.From, table, m.does(), "; to use it this once, name it: --model "+m.Name)
}

// Untrusted returns the error for a table of a project that the user does not trust and that does what needs trust.
func Untrusted(c *config.Config, from *config.Source, table, does, hint string) error {
	if does == "" || from.Trusted {
		return nil
	}
	if c.UserFile != "" {
		hint += fmt.Sprintf("; to trust the project, add %s to directories in [trust] of %s", text.Quote(filepath.ToSlash(from.Root)), c.UserFile)
	}
	return fmt.Errorf("[%s] of the project's %s %s, which a project may do only if you trust it%s", table, from.Name, does, hint)
}

// Address returns what is wrong with the address of a server. It is not repeated: it may hold a secret that does not
// belong there. None at all is not wrong.
func Address(s string) string {
	u, err := url.Parse(s)
	switch {
	case s == "":
		return ""
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "needs an address that begins with http:// or https://"
	case u.User != nil:
		return "has a user or a password in its address, which would be shown: remove it"
	case u.RawQuery != "" || u.Fragment != "":
		return "has an address with a query or a fragment: remove it"
	}
	return ""
}

// OnLoopback reports whether an address is one of this machine alone.
func OnLoopback(s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
