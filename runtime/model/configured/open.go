package configured

import (
	"context"
	"errors"
	"fmt"
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
	maxScript = 1 << 20  // bytes
	maxKey    = 16 << 10 // bytes
)

// Open returns the model. It runs and sends nothing. The error is a [*model.Error].
func (m Model) Open(getenv func(string) string) (model.Model, error) {
	opened, err := m.open(getenv)
	if err != nil {
		message := text.Line(text.Cut(err.Error(), 500))
		return nil, &model.Error{Model: m.Name, Code: model.CodeConfiguration, Message: message}
	}
	return opened, nil
}

func (m Model) open(getenv func(string) string) (model.Model, error) {
	t := m.Is
	switch {
	case t.API == command:
		return program.Model{Name: m.Name, Config: t, Runner: process.Exec{}}, nil
	case t.API == scripted:
		source, err := m.script()
		var opened *script.Model
		if err == nil {
			opened, err = script.Parse(m.Name, string(source))
		}
		if err != nil {
			err = fmt.Errorf("the script %s: %w", text.Quote(t.Script), err)
		}
		return opened, err
	case t.KeyEnv != "":
		key, err := keyIn(getenv(t.KeyEnv))
		if err != nil {
			return nil, fmt.Errorf("the environment variable %s of key_env %w", text.Quote(t.KeyEnv), err)
		}
		return provider.New(m.Name, t, func(context.Context, bool) (string, error) { return key, nil }), nil
	case t.KeyCommand != nil:
		return provider.New(m.Name, t, printed(process.Command{
			Path: t.KeyCommand[0], Args: t.KeyCommand[1:], Env: process.DefaultEnv(t.PassEnv...),
			Limits: process.Limits{Timeout: time.Minute, Stdout: maxKey},
		})), nil
	}
	return provider.New(m.Name, t, nil), nil
}

// script reads the script. A relative path of a project's file leads out of the project only where the path says so, not
// through a link: the user has to see it to allow it.
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

// keyIn returns the key in the value of a variable or the output of a command. Its errors do not show it.
func keyIn(value string) (string, error) {
	key := strings.TrimSpace(value)
	switch {
	case key == "":
		return "", errors.New("has no key")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("has characters that no key has")
	}
	return key, nil
}

// printed returns the key that a command prints. It runs the command for the first request, and after the provider has
// refused a key: some are valid for an hour.
func printed(c process.Command) provider.Key {
	var mu sync.Mutex
	last := ""
	return func(ctx context.Context, refused bool) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if last != "" && !refused {
			return last, nil
		}
		key, err := run(ctx, c)
		if err != nil {
			return "", fmt.Errorf("key_command gives no key: %w; run it yourself to see why", err)
		}
		last = key
		return last, nil
	}
}

// run returns the key that a command prints. Its errors do not show the output and the arguments, which may have the key.
func run(ctx context.Context, c process.Command) (string, error) {
	result, err := process.Exec{}.Run(ctx, c)
	failure, failed := errors.AsType[*process.Error](err)
	switch {
	case failed:
		return "", errors.New(failure.Detail)
	case result.ExitCode != 0:
		return "", fmt.Errorf("it ended with exit code %d", result.ExitCode)
	}
	key, err := keyIn(string(result.Stdout))
	if err != nil {
		err = fmt.Errorf("what it prints %w", err)
	}
	return key, err
}
