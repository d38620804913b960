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
	maxScript = 1 << 20  // bytes of a script
	maxKey    = 16 << 10 // bytes that key_command prints
)

// Open returns the model. It reads a script, but runs and sends nothing. The error is a [*model.Error].
func (m Model) Open(getenv func(string) string) (model.Model, error) {
	t := m.Value
	switch {
	case t.API == command:
		return program.Model{Name: m.Name, Config: t, Runner: process.Exec{}}, nil
	case t.API == scripted:
		var opened *script.Model
		source, err := m.readScript()
		if err == nil {
			opened, err = script.Parse(m.Name, string(source))
		}
		if err != nil {
			message := fmt.Sprintf("the script %s: %s", text.Quote(t.Script), text.Line(text.Cut(err.Error(), 500)))
			return nil, &model.Error{Model: m.Name, Code: model.CodeConfiguration, Message: message}
		}
		return opened, nil
	case t.KeyEnv != "":
		return provider.New(m.Name, t, func(context.Context, bool) (string, error) {
			key, err := keyIn(getenv(t.KeyEnv))
			if err != nil {
				err = fmt.Errorf("the environment variable %s of key_env %w", text.Quote(t.KeyEnv), err)
			}
			return key, err
		}), nil
	case t.KeyCommand != nil:
		return provider.New(m.Name, t, commandKey(process.Command{
			Path: t.KeyCommand[0], Args: t.KeyCommand[1:], Env: process.DefaultEnv(t.PassEnv...),
			Limits: process.Limits{Timeout: time.Minute, Stdout: maxKey},
		})), nil
	}
	return provider.New(m.Name, t, nil), nil
}

// readScript reads the script. A relative path of a project's file leads out of the project only where the path says
// so, not through a link: the user has to see it to allow it.
func (m Model) readScript() ([]byte, error) {
	path := filepath.FromSlash(m.Value.Script)
	if m.File.Root == "" || !filepath.IsLocal(path) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(m.File.Dir, path)
		}
		return safefile.Read(path, maxScript)
	}
	root, err := safefile.OpenDir(m.File.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return safefile.ReadIn(root, path, maxScript)
}

// keyIn returns the key in the value of a variable or in the output of a command. The error does not show the value.
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

// commandKey returns a function that returns the key that a command prints. The function runs the command for the first
// request, and after the provider has refused a key: some are valid for an hour.
func commandKey(c process.Command) provider.Key {
	var mu sync.Mutex
	last := ""
	return func(ctx context.Context, refused bool) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if last == "" || refused {
			key, err := printedKey(ctx, c)
			if err != nil {
				return "", fmt.Errorf("key_command gives no key: %w; run it yourself to see why", err)
			}
			last = key
		}
		return last, nil
	}
}

// printedKey runs a command and returns the key that the command prints. The error does not show the output and the
// arguments, which may have the key in them.
func printedKey(ctx context.Context, c process.Command) (string, error) {
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
