package configured

import (
	"cmp"
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

const maxScript, maxKey = 1 << 20, 16 << 10 // bytes of a script, and of the output of key_command

// Open returns the model. It reads a script, but runs and sends nothing. The error is a [*model.Error].
func (m Model) Open(getenv func(string) string) (model.Model, error) {
	t := m.Value
	switch {
	case t.API == command:
		return program.Model{Name: m.Name, Config: t, Runner: process.Exec{}}, nil
	case t.API == scripted:
		source, readErr := m.readScript()
		opened, parseErr := script.Parse(m.Name, string(source))
		if err := cmp.Or(readErr, parseErr); err != nil {
			message := fmt.Sprintf("the script %s: %s", text.Quote(t.Script), text.Line(text.Cut(err.Error(), 500)))
			return nil, &model.Error{Model: m.Name, Code: model.CodeConfiguration, Message: message}
		}
		return opened, nil
	case t.KeyEnv != "":
		source := "the environment variable " + text.Quote(t.KeyEnv) + " of key_env"
		key := func(context.Context, bool) (string, error) { return keyIn(getenv(t.KeyEnv), source) }
		return provider.New(m.Name, t, key), nil
	case t.KeyCommand != nil:
		return provider.New(m.Name, t, commandKey(process.Command{
			Path: t.KeyCommand[0], Args: t.KeyCommand[1:], Env: process.DefaultEnv(t.PassEnv...),
			Limits: process.Limits{Timeout: time.Minute, Stdout: maxKey},
		})), nil
	}
	return provider.New(m.Name, t, nil), nil
}

// readScript reads the script. If a project's configuration names a path inside of the project, links in the path cannot
// lead out of the project: such a model needs no trust of the user, because its path seems to stay inside.
func (m Model) readScript() ([]byte, error) {
	path := filepath.FromSlash(m.Value.Script)
	if m.File.Root != "" && filepath.IsLocal(path) {
		root, err := safefile.OpenDir(m.File.Root)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return safefile.ReadIn(root, path, maxScript)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.File.Dir, path)
	}
	return safefile.Read(path, maxScript)
}

// keyIn returns a value without the space around it, or an error if that is no key. The error shows only the source.
func keyIn(value, source string) (string, error) {
	key := strings.TrimSpace(value)
	switch {
	case key == "":
		return "", errors.New(source + " has no key")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New(source + " has characters that no key has")
	}
	return key, nil
}

// commandKey returns a function that returns the key that a command prints. The function runs the command at its first
// call, and again after the provider has refused the key: some keys are valid for an hour.
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

// printedKey returns the key that a command prints. The error shows neither output nor arguments, which may have the key.
func printedKey(ctx context.Context, c process.Command) (string, error) {
	result, err := process.Exec{}.Run(ctx, c)
	failure, failed := errors.AsType[*process.Error](err)
	switch {
	case failed:
		return "", errors.New(failure.Detail)
	case result.ExitCode != 0:
		return "", fmt.Errorf("it ended with exit code %d", result.ExitCode)
	}
	return keyIn(string(result.Stdout), "what it prints")
}
