// Package configured finds and opens the models of the configuration, which are its tables [model.NAME].
//
// A project may be a clone of a stranger's repository. Its file must not run a program, send a variable of the
// environment anywhere, send a conversation to another machine or read a file outside of the project, unless the user
// trusts the project or names the model with --model. A server on this machine may get a conversation and nothing else.
//
// The package must never show a key.
package configured

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/origin"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model/provider"
)

// Model is a table [model.NAME].
type Model struct {
	config.Table[config.Model]
	config *config.Config
}

const command, scripted = "command", "scripted" // the values of api without HTTP

// keysOf returns the keys that a table may have for an API, besides api. The first is required.
func keysOf(api string) []string {
	switch api {
	case command:
		return []string{"command", "input", "output", "pass_env", "timeout"}
	case scripted:
		return []string{"script"}
	}
	keys := []string{"model", "base_url", "key_env", "key_command", "pass_env", "max_output_tokens", "timeout", "request"}
	if api != provider.Chat {
		keys = append(keys, "web_search")
	}
	return keys
}

// Tools reports whether the model can call tools.
func (m Model) Tools() bool { return m.Value.API != command }

// HTTP reports whether requests go over HTTP.
func (m Model) HTTP() bool { return m.Value.API != command && m.Value.API != scripted }

// Check adds a problem to the configuration for each model that cannot be used.
func Check(c *config.Config) {
	for _, t := range c.Models {
		t.Judge("model", Model{t, c}.problem())
	}
}

// problem returns the first problem of a table as the end of a sentence, or "".
func (m Model) problem() string {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if m.Name == "" || len(m.Name) > 64 || strings.Trim(m.Name, allowed) != "" {
		return "is not a name: it has to be 1 to 64 letters, digits, hyphens, underscores and dots"
	}
	t := m.Value
	apis := []string{provider.Responses, provider.Chat, provider.Messages, command, scripted}
	if !slices.Contains(apis, t.API) {
		return "has api = " + text.Quote(t.API) + "; " + suggest(t.API, apis, "it has to be one of ")
	}
	if problem := keyProblem(t); problem != "" {
		return problem
	}
	forms := []string{"", "text", "json"}
	for _, form := range []string{t.Input, t.Output} {
		if !slices.Contains(forms, form) {
			return "has input or output = " + text.Quote(form) + "; it has to be text or json"
		}
	}
	noProgram := func(argv []string) bool { return argv != nil && (len(argv) == 0 || argv[0] == "") }
	switch {
	case noProgram(t.Command):
		return "has no program in command"
	case noProgram(t.KeyCommand):
		return "has no program in key_command"
	case t.KeyEnv != "" && t.KeyCommand != nil:
		return "has both key_env and key_command"
	case t.MaxOutputTokens < 0 || t.Timeout < 0:
		return "has a negative max_output_tokens or timeout"
	}
	return AddressProblem(t.BaseURL)
}

// keyProblem returns the problem of a table with a key that its API does not have, or without the required key, or "".
func keyProblem(t config.Model) string {
	keys, table := keysOf(t.API), reflect.ValueOf(t) // keys[0] is the required key
	for i := range table.NumField() {
		key, isSet := table.Type().Field(i).Tag.Get("toml"), !table.Field(i).IsZero()
		switch {
		case isSet && key != "api" && !slices.Contains(keys, key):
			return fmt.Sprintf("has %s, which does not go with api = %q", key, t.API)
		case !isSet && key == keys[0]:
			return "has no " + key + ": see convtools help query"
		}
	}
	return ""
}

// suggest returns a question with the known name that resembles name. If no name does, it returns intro and all names.
func suggest(name string, known []string, intro string) string {
	if meant := near.Name(name, known); meant != "" {
		return "did you mean " + meant + "?"
	}
	return intro + strings.Join(known, ", ")
}

// riskyAction returns what the model does that needs the user's trust, or "".
func (m Model) riskyAction() string {
	switch t := m.Value; {
	case t.Command != nil:
		return "runs a program"
	case t.KeyCommand != nil:
		return "runs a program for the key"
	case t.KeyEnv != "": // even to this machine, where any program may listen
		return "sends a variable of the environment as a key"
	case m.HTTP() && !OnLoopback(t.BaseURL):
		return "sends the conversation to another machine"
	case t.Script != "" && !filepath.IsLocal(filepath.FromSlash(t.Script)):
		return "reads a script outside of the project"
	}
	return ""
}

// NoModelError says that the configuration has no model, none with the name, or several and none is chosen.
type NoModelError struct {
	Name     string // empty if no model was asked for by name
	Known    []string
	UserFile string // the user's configuration file; may be empty
}

func (e *NoModelError) Error() string {
	switch {
	case len(e.Known) == 0:
		return "no model is configured; add a table [model.NAME] to " + cmp.Or(e.UserFile, "convtools.toml")
	case e.Name == "":
		return `there are several models; name one with --model, or with model = "NAME" in [session]: ` + text.Line(strings.Join(e.Known, ", "))
	}
	return "there is no model " + text.Quote(e.Name) + "; " + text.Line(suggest(e.Name, e.Known, "there are: "))
}

// Names returns the sorted names of the models.
func Names(c *config.Config) []string {
	var names []string
	for _, t := range c.Models {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}

// Choose returns the model with a name. An empty name means the model in [session] of the user's file or, if that has
// none, of the project's file. If neither has one, Choose returns the only model of the user's file or, if that has no
// models, of the project's file. The error is a [*NoModelError], a [*config.Error] for a wrong table, or says that the
// user must trust the project.
func Choose(c *config.Config, name string) (Model, error) {
	usersChoice := cmp.Or(name, c.OwnModel) // given by the user, or in the user's file: needs no trust
	wanted := cmp.Or(usersChoice, c.Session.Model)
	isUsers := func(t config.Table[config.Model]) bool { return t.File.Root == "" }
	found := slices.Clone(c.Models)
	switch {
	case wanted != "":
		found = slices.DeleteFunc(found, func(t config.Table[config.Model]) bool { return t.Name != wanted })
	case slices.ContainsFunc(found, isUsers):
		found = slices.DeleteFunc(found, func(t config.Table[config.Model]) bool { return !isUsers(t) })
	}
	if len(found) != 1 {
		return Model{}, &NoModelError{Name: wanted, Known: Names(c), UserFile: c.UserFile}
	}
	chosen := Model{found[0], c}
	if usersChoice != "" {
		return chosen, c.Wrong("model." + chosen.Name)
	}
	return chosen, chosen.CheckTrust() // also reports a wrong table; a model of the user's file needs no trust
}

// CheckTrust returns an error if the table is wrong, or if the model needs trust and the user does not trust its project.
func (m Model) CheckTrust() error {
	table := "model." + m.Name
	if err := m.config.Wrong(table); err != nil {
		return err
	}
	return Untrusted(m.config, m.File, table, m.riskyAction(), "; to use it this once, name it: --model "+m.Name)
}

// Untrusted returns an error if the user does not trust the project of a table, and the table needs trust. action is what
// the table does that needs trust, or "". hint is further advice.
func Untrusted(c *config.Config, file *config.File, table, action, hint string) error {
	if action == "" || file.Trusted {
		return nil
	}
	if c.UserFile != "" {
		hint += fmt.Sprintf("; to trust the project, add %s to directories in [trust] of %s", text.Quote(filepath.ToSlash(file.Root)), c.UserFile)
	}
	return fmt.Errorf("[%s] of the project's %s %s, which a project may do only if you trust it%s", table, file.Name, action, hint)
}

// AddressProblem returns the problem of a server's address as the end of a sentence, or "". An empty address has none.
// The problem does not repeat the address, which may have a secret in it.
func AddressProblem(s string) string {
	u, err := url.Parse(s)
	switch {
	case s == "":
		return ""
	case err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme):
		return "needs an address that begins with http:// or https://"
	case u.User != nil:
		return "has a user or a password in its address, which would be shown: remove it"
	case u.RawQuery != "" || u.Fragment != "":
		return "has an address with a query or a fragment: remove it"
	}
	return ""
}

// OnLoopback reports whether an address is on this machine.
func OnLoopback(s string) bool {
	u, err := url.Parse(s)
	return err == nil && origin.IsLoopback(u.Hostname())
}
