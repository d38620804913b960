// Command page looks at the page of convtools web with a real browser: headless Chromium, which it drives itself. It
// clicks and types as a person does, asks axe-core what a person who cannot see or point would miss, throws hostile
// recordings at every page, and takes pictures.
//
// Each step prints one line. The command reads the bundled sample and what it writes itself, unless -home names another
// home directory, of which it only takes pictures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/process"
)

const usage = `usage: page [-pictures DIR] [-home DIR -project DIR] [-only PREFIX]

Looks at the page of convtools web, built from this tree, with Chromium. make
page runs it. It needs chromium, and npm for axe-core.

  -pictures DIR  write the pictures to DIR in place of bin/page
  -home DIR      take pictures of the conversations of this home directory
  -project DIR   and of this project in it
  -only PREFIX   run the steps whose name has this prefix
`

// axeVersion is the version of the package of npm that finds what is not accessible.
const axeVersion = "4.14.1"

func main() {
	var o options
	flag.StringVar(&o.pictures, "pictures", filepath.Join("..", "..", "..", "bin", "page"), "")
	flag.StringVar(&o.home, "home", "", "")
	flag.StringVar(&o.project, "project", "", "")
	flag.StringVar(&o.only, "only", "", "")
	repository.Main(usage, func(ctx context.Context) error { return run(ctx, o) })
}

type options struct{ pictures, home, project, only string }

// run prepares what the steps need, and runs them. With -home, it only takes pictures of that home.
func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "convtools-page-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p := &programs{pictures: o.pictures}
	if p.chromium, err = exec.LookPath("chromium"); err != nil {
		return fmt.Errorf("chromium is missing: %w", err)
	}
	root, err := repository.Root(ctx)
	if err != nil {
		return err
	}
	p.testdata = filepath.Join(root, "testdata")
	if p.convtools, err = repository.Build(ctx, root, "./cmd/convtools", dir); err != nil {
		return err
	}
	if p.axe, err = installAxe(ctx, dir); err != nil {
		return err
	}
	if err := os.MkdirAll(p.pictures, 0o755); err != nil { //nolint:gosec // for everybody to look at
		return err
	}
	if o.home != "" {
		l := &lab{programs: p, dir: dir, home: o.home, project: o.project}
		defer l.shutdown()
		return errors.Join(l.start(ctx), pictures(l))
	}
	failed := 0
	for _, s := range steps() {
		if !strings.HasPrefix(s.name, o.only) {
			continue
		}
		begun := time.Now()
		note, err := s.runIn(ctx, p, filepath.Join(dir, s.name))
		result := "ok    "
		if err != nil {
			failed++
			result, note = "FAILED", err.Error()
		}
		fmt.Printf("%s %-12s %5.1fs  %s\n", result, s.name, time.Since(begun).Seconds(), note)
	}
	if failed > 0 {
		return fmt.Errorf("%d steps failed", failed)
	}
	return nil
}

// installAxe returns the script of axe-core, which it installs from npm.
func installAxe(ctx context.Context, dir string) (string, error) {
	npm := process.Command{
		Path: "npm", Args: []string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "axe-core@" + axeVersion},
		Dir: dir, Env: os.Environ(), Limits: process.Limits{Timeout: 2 * time.Minute},
	}
	if _, err := repository.Output(ctx, npm); err != nil {
		return "", err
	}
	script, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	return string(script), err
}
