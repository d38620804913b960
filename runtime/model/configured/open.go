package configured

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/program"
	"github.com/convtools/convtools/runtime/model/provider"
	"github.com/convtools/convtools/runtime/model/script"
	"github.com/convtools/convtools/runtime/process"
)

const (
	maxScript = 1 << 20  // bytes of a script
	maxKey    = 16 << 10 // bytes of a key
)

// Open returns the model. Nothing is run or sent before it is asked. The error is a [*model.Error].
func (m Model) Open(getenv func(string) string) (model.Model, error) {
	t := m.Is
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
		return nil, m.fail(fmt.Errorf("the script %s: %w", text.Quote(t.Script), err))
	}
	o := provider.Options{
		Name: m.Name, API: provider.API(t.API), BaseURL: "https://api.openai.com/v1", Model: t.Model,
		MaxOutputTokens: t.MaxOutputTokens, Request: t.Request, WebSearch: t.WebSearch, Silence: t.Timeout,
	}
	if o.API == provider.Messages {
		o.BaseURL = "https://api.anthropic.com/v1"
	}
	if u, err := url.Parse(t.BaseURL); err == nil && t.BaseURL != "" {
		if u.Path = strings.TrimRight(u.Path, "/"); u.Path == "" {
			u.Path = "/v1"
		}
		o.BaseURL = u.String()
	}
	switch {
	case t.KeyEnv != "":
		key, err := keyOf([]byte(getenv(t.KeyEnv)))
		if err != nil {
			return nil, m.fail(fmt.Errorf("the environment variable %s of key_env %w", text.Quote(t.KeyEnv), err))
		}
		o.Key = func(context.Context, bool) (string, error) { return key, nil }
	case t.KeyCommand != nil:
		o.Key = printed(process.Command{
			Path: t.KeyCommand[0], Args: t.KeyCommand[1:], Env: env,
			Limits: process.Limits{Timeout: time.Minute, Stdout: maxKey + 1},
		})
	}
	return provider.New(o), nil
}

func (m Model) fail(err error) error {
	return &model.Error{Model: m.Name, Code: model.CodeConfiguration, Message: text.Line(text.Cut(err.Error(), 500)), Err: err}
}

// script reads the script. That of a project is inside of it, through links too, unless its path says otherwise, which
// is the user's to allow.
func (m Model) script() ([]byte, error) {
	path := filepath.FromSlash(m.Is.Script)
	if m.From.Root == "" || !filepath.IsLocal(path) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(m.From.Dir, path)
		}
		return safefile.Read(path, maxScript)
	}
	root, err := safefile.OpenDir(m.From.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return safefile.ReadIn(root, path, maxScript)
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

// printed returns the key that a command prints. It is run when the first request needs a key, and again when the
// provider has refused that: some keys are valid for an hour.
func printed(c process.Command) func(ctx context.Context, fresh bool) (string, error) {
	var mu sync.Mutex
	last := ""
	return func(ctx context.Context, fresh bool) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if last != "" && !fresh {
			return last, nil
		}
		result, err := process.Exec{}.Run(ctx, c)
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
		last = key
		return key, nil
	}
}
