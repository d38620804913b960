package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

// build builds everything that is measured.
func (b *bench) build(ctx context.Context) error {
	b.progress("building")
	root, err := repository.Root(ctx)
	if err != nil {
		return err
	}
	source := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return fmt.Errorf("writing an empty program: %w", err)
	}
	for _, target := range []struct {
		name, in, pkg string
		path          *string
	}{
		{"convtools", root, "./cmd/convtools", &b.convtools},
		{"convgen", root, "./cmd/convgen", &b.convgen},
		{"empty", root, source, &b.empty},
		{"minimal", filepath.Join(root, "cmd", "convtools", "internal"), "./bench/minimal", &b.minimal},
	} {
		*target.path = repository.Program(b.dir, target.name)
		if err := repository.Build(ctx, target.in, *target.path, target.pkg); err != nil {
			return err
		}
	}
	return nil
}

// home returns an environment in which convtools finds no conversations but those of a
// variable, and keeps what it writes below a folder of its own.
func (b *bench) home(name string, also ...string) []string {
	home := filepath.Join(b.dir, "homes", name)
	cache := filepath.Join(home, "cache")
	return append([]string{
		"HOME=" + home, "USERPROFILE=" + home, "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home, "AppData=" + home,
		"XDG_CACHE_HOME=" + cache, "LocalAppData=" + cache, "JP_USER_DATA_DIR=" + filepath.Join(home, "jp"),
		"CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "GEMINI_CLI_HOME=", "OPENCODE_DB=", "ORIGIN_CONVERSATION_DB=", "CONVERSATION_DB=",
	}, also...)
}
