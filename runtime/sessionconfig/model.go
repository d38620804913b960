package sessionconfig

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/program"
	"github.com/convtools/convtools/runtime/model/provider"
	"github.com/convtools/convtools/runtime/model/script"
	"github.com/convtools/convtools/runtime/process"
)

// The values of api.
const (
	command  = "command"
	scripted = "scripted"
)

// Model is a table [model.NAME].
type Model struct {
	Name string

	source   *config.Source
	table    config.Model
	getenv   func(string) string
	userFile string
	wrong    error // what is wrong with the table; nil where nothing is
}

// Tools reports whether the model can call tools.
func (m Model) Tools() bool { return m.table.API != command }

// WebSearch reports whether the provider's own search may be offered.
func (m Model) WebSearch() bool { return m.table.WebSearch }

// Endpoint returns the table of a model that is behind an HTTP interface, and false for another one.
func (m Model) Endpoint() (config.Model, bool) { return m.table, m.http() }

// http reports whether the model is behind an HTTP interface.
func (m Model) http() bool { return m.table.API != command && m.table.API != scripted }

// check returns what is wrong with a table, and an empty text where nothing is.
func (m Model) check() string {
	t := m.table
	apis := []string{string(provider.Responses), string(provider.Chat), string(provider.Messages), command, scripted}
	if !slices.Contains(apis, t.API) {
		hint := "it has to be one of " + strings.Join(apis, ", ")
		if near := near.Name(t.API, apis); near != "" {
			hint = "did you mean " + near + "?"
		}
		return "has api = " + text.Quote(t.API) + "; " + hint
	}
	for _, key := range []struct {
		name     string
		set, fit bool
	}{
		{"base_url", t.BaseURL != "", m.http()},
		{"model", t.Model != "", m.http()},
		{"key_env", t.KeyEnv != "", m.http()},
		{"key_command", t.KeyCommand != nil, m.http()},
		{"request", t.Request != nil, m.http()},
		{"max_output_tokens", t.MaxOutputTokens != 0, m.http()},
		{"web_search", t.WebSearch, t.API == string(provider.Responses) || t.API == string(provider.Messages)},
		{"script", t.Script != "", t.API == scripted},
		{"command", t.Command != nil, t.API == command},
		{"input", t.Input != "", t.API == command},
		{"output", t.Output != "", t.API == command},
		{"pass_env", t.PassEnv != nil, t.API == command || t.KeyCommand != nil},
		{"timeout", t.Timeout != 0, t.API != scripted},
	} {
		if key.set && !key.fit {
			return fmt.Sprintf("has %s, which does not go with api = %q", key.name, t.API)
		}
	}
	switch {
	case m.http() && t.Model == "":
		return "has no model: the name that the provider gives to the model"
	case t.API == command && (len(t.Command) == 0 || t.Command[0] == ""):
		return `has no command: the program and its arguments, as in command = ["agent", "--print"]`
	case t.API == scripted && t.Script == "":
		return "has no script: the file with the answers"
	case t.KeyEnv != "" && t.KeyCommand != nil:
		return "has both key_env and key_command"
	case t.KeyCommand != nil && (len(t.KeyCommand) == 0 || t.KeyCommand[0] == ""):
		return "has an empty key_command"
	case !slices.Contains([]string{"", "text", "json"}, t.Input):
		return "has input = " + text.Quote(t.Input) + "; it has to be text or json"
	case !slices.Contains([]string{"", "text", "json"}, t.Output):
		return "has output = " + text.Quote(t.Output) + "; it has to be text or json"
	case t.MaxOutputTokens < 0 || t.Timeout < 0:
		return "has a negative max_output_tokens or timeout"
	}
	if t.BaseURL != "" {
		if _, problem := address(t.BaseURL); problem != "" {
			return problem
		}
	}
	for _, key := range provider.Reserved() {
		if _, ok := t.Request[key]; ok {
			return "has request." + key + ", which is not the configuration's to choose"
		}
	}
	return ""
}

// does returns what only the user may have a model do, and an empty text where it does nothing of the kind.
func (m Model) does() string {
	switch t := m.table; {
	case t.Command != nil:
		return "runs a program"
	case t.KeyCommand != nil:
		return "runs a program for the key"
	case t.KeyEnv != "": // to this machine too: others may listen there, or it leads to another one
		return "sends a variable of the environment as a key"
	case m.http() && !onLoopback(t.BaseURL):
		return "sends the conversation to another machine"
	case t.Script != "" && !filepath.IsLocal(filepath.FromSlash(t.Script)):
		return "reads a script outside of the project"
	}
	return ""
}

// onLoopback reports whether an address is one of this machine alone.
func onLoopback(s string) bool {
	u, problem := address(s)
	if problem != "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
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
		where := "convtools.toml"
		if e.UserFile != "" {
			where = e.UserFile
		}
		return "no model is configured; add a table [model.NAME] to " + where
	case e.Name == "":
		return `there are several models; name one with --model, or with model = "NAME" in [session]: ` + known
	}
	hint := "there are: " + known
	if near := near.Name(e.Name, e.Known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return "there is no model " + text.Quote(e.Name) + "; " + hint
}

// Choose returns the model with a name that the user has given. Where it is empty, the model is that of [session] in the
// user's file, and else in the project's; else the only one that the user's file has; else, where that has none, the
// only one of the project. The error is a [*NoModelError], an [*Error] for a model whose table is wrong, or says that a project
// has to be trusted, for one that the user has not named.
func (c Config) Choose(name string) (Model, error) {
	own := cmp.Or(name, c.usersOwn)
	wanted := cmp.Or(own, c.Session.Model)
	users := slices.ContainsFunc(c.Models, func(m Model) bool { return m.source.Root == "" })
	missing := &NoModelError{Name: wanted, UserFile: c.userFile}
	var found []Model
	for _, m := range c.Models {
		missing.Known = append(missing.Known, m.Name)
		if m.Name == wanted || wanted == "" && (m.source.Root == "" || !users) {
			found = append(found, m)
		}
	}
	switch {
	case len(found) != 1:
		return Model{}, missing
	case own != "":
		return found[0], found[0].wrong
	}
	return found[0].Trusted()
}

// Trusted returns the model unless it is one that the user has to trust the project for.
func (m Model) Trusted() (Model, error) {
	if m.wrong != nil {
		return m, m.wrong
	}
	if does := m.does(); does != "" && !m.source.Trusted {
		return m, untrusted("model."+m.Name, m.source, does, m.userFile)
	}
	return m, nil
}

// Open returns the model. Nothing is run or sent before it is asked. The error is a [*model.Error].
func (m Model) Open() (model.Model, error) {
	t := m.table
	env := process.DefaultEnv(t.PassEnv...)
	switch t.API {
	case command:
		return program.New(program.Options{Name: m.Name, Command: t.Command, Env: env, JSON: t.Input == "json", Events: t.Output == "json", Timeout: t.Timeout}), nil
	case scripted:
		source, err := m.script()
		if err == nil {
			var opened *script.Model
			if opened, err = script.Parse(m.Name, string(source)); err == nil {
				return opened, nil
			}
		}
		return nil, m.fail("the script "+text.Quote(t.Script)+": "+err.Error(), err)
	}
	o := provider.Options{
		Name: m.Name, API: provider.API(t.API), BaseURL: "https://api.openai.com/v1", Model: t.Model,
		MaxOutputTokens: t.MaxOutputTokens, Request: t.Request, WebSearch: t.WebSearch, Silence: t.Timeout,
	}
	if o.API == provider.Messages {
		o.BaseURL = "https://api.anthropic.com/v1"
	}
	if u, _ := address(t.BaseURL); u != nil {
		if u.Path = strings.TrimRight(u.Path, "/"); u.Path == "" {
			u.Path = "/v1"
		}
		o.BaseURL = u.String()
	}
	switch {
	case t.KeyEnv != "":
		o.Key = m.keyFromEnv
		if _, err := m.keyFromEnv(context.Background(), false); err != nil {
			return nil, m.fail(err.Error(), err)
		}
	case t.KeyCommand != nil:
		o.Key = (&keyCommand{command: process.Command{
			Path: t.KeyCommand[0], Args: t.KeyCommand[1:], Env: env,
			Limits: process.Limits{Timeout: time.Minute, Stdout: maxKey + 1},
		}, runner: process.Exec{}}).key
	}
	return provider.New(o), nil
}

func (m Model) fail(message string, err error) *model.Error {
	return &model.Error{Model: m.Name, Code: model.CodeConfiguration, Message: text.Line(text.Cut(message, 500)), Err: err}
}

// script reads the script. That of a project is inside of it, through links too, unless its path says otherwise, which
// is the user's to allow.
func (m Model) script() ([]byte, error) {
	path := filepath.FromSlash(m.table.Script)
	if m.source.Root == "" || !filepath.IsLocal(path) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(m.source.Dir, path)
		}
		return safefile.Read(path, maxScript)
	}
	root, err := safefile.OpenDir(m.source.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return safefile.ReadIn(root, path, maxScript)
}

// maxScript is the size in bytes of the largest script.
const maxScript = 1 << 20

// maxKey is the length in bytes of the longest key.
const maxKey = 16 << 10

func (m Model) keyFromEnv(context.Context, bool) (string, error) {
	key, err := keyOf([]byte(m.getenv(m.table.KeyEnv)))
	if err != nil {
		return "", fmt.Errorf("the environment variable %s of key_env %w", text.Quote(m.table.KeyEnv), err)
	}
	return key, nil
}

// keyOf returns the key that a variable or a command has, without what a header cannot hold. Errors do not repeat it.
func keyOf(value []byte) (string, error) {
	key := string(bytes.TrimSpace(value))
	switch {
	case key == "":
		return "", errors.New("has no key")
	case len(key) > maxKey:
		return "", errors.New("has more than a key")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("has characters that no key has")
	}
	return key, nil
}

// keyCommand is a command that prints a key. It is run when the first request needs one, and again when the provider
// has refused it: some keys are valid for an hour.
type keyCommand struct {
	command process.Command
	runner  process.Runner

	mu   sync.Mutex
	last string
}

func (k *keyCommand) key(ctx context.Context, fresh bool) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != "" && !fresh {
		return k.last, nil
	}
	result, err := k.runner.Run(ctx, k.command)
	key, wrong := keyOf(result.Stdout)
	problem := ""
	switch failure := (*process.Error)(nil); {
	case errors.As(err, &failure):
		problem = failure.Detail // what it has printed, on standard error too, may hold the key, and so may its arguments
	case result.ExitCode != 0:
		problem = fmt.Sprintf("it ended with exit code %d", result.ExitCode)
	case wrong != nil:
		problem = "what it prints " + wrong.Error()
	}
	if problem != "" {
		return "", fmt.Errorf("key_command gives no key: %s; run it yourself to see why", problem)
	}
	k.last = key
	return key, nil
}
