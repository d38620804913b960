package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

// installer is a program that installs the plugin, as testdata/plugins.toml describes it.
type installer struct {
	Program string
	Steps   [][]string // arguments, with ROOT for the folder with the marketplace
	Prints  []string   // what the last step prints
}

// pluginOf returns a step in which the named program checks the plugin, installs it
// from its folder, and prints that it has the server, the skill or both.
func pluginOf(name string) func(context.Context, *lab) (string, error) {
	return func(ctx context.Context, l *lab) (string, error) {
		var installers map[string]installer
		home, err := l.makeDir()
		if err := errors.Join(err, l.readTOML(&installers, "plugins.toml")); err != nil {
			return "", err
		}
		root, err := repository.Root(ctx)
		if err != nil {
			return "", err
		}
		found := installers[name]
		searched := strings.Join([]string{l.dir, filepath.Dir(l.node), os.Getenv("PATH")}, string(os.PathListSeparator))
		env := append(l.env(home), "GEMINI_CLI_TRUST_WORKSPACE=true", "PATH="+searched)
		var printed string // by the last step
		for _, step := range found.Steps {
			path, args := l.module(filepath.FromSlash(found.Program)), slices.Clone(step)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "ROOT", root)
			}
			if filepath.Ext(path) == ".js" {
				path, args = l.node, append([]string{path}, args...)
			}
			result, err := process.Exec{}.Run(ctx, process.Command{
				Path: path, Args: args, Dir: l.workspace, Env: env, Stdin: []byte("y\n"), Limits: process.Limits{Timeout: time.Minute},
			})
			if err == nil && result.ExitCode != 0 {
				err = repository.ExitError(result)
			}
			if err != nil {
				return "", fmt.Errorf("%s: %w", strings.Join(step, " "), err)
			}
			printed = string(result.Stdout) + string(result.Stderr)
		}
		for _, want := range found.Prints {
			if !strings.Contains(printed, want) {
				return "", fmt.Errorf("it does not print %q:\n%s", want, text.Visible(printed))
			}
		}
		return "", nil
	}
}
