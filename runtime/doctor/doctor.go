// Package doctor looks at an installation and says what works and what does not:
// the workspace, the command line in use, the knowledge base, the versions and the
// cache, and every host this program is registered with, whose registered command
// it starts the way the host does.
//
// It changes nothing, and waits for no program without a limit. What a project's
// own files tell it to run, it runs only if that is this very program with the
// arguments [install] writes: a project may come from anywhere, and looking at it
// must not start what its author likes.
package doctor

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
)

// Config is what the examination depends on.
type Config struct {
	// Version is the version of this program.
	Version string
	// Install says where hosts keep their configuration, and what this program
	// is called.
	Install install.Options
	// Dir is where the workspace is looked for, upwards. Empty means the working
	// directory.
	Dir string
	// CacheDir is where this program would keep a cache. Empty means nowhere.
	CacheDir string
	// CLI runs the conversation command line.
	CLI contract.CLI
	// Runner starts the registered commands.
	Runner process.Runner
	// LookPath finds programs in PATH, as [exec.LookPath] does.
	LookPath func(name string) (string, error)
	// Now is the clock by which answers are timed.
	Now func() time.Time
}

// Status says how something is.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Warning Status = "warning" // works here and now, and may not elsewhere
	Problem Status = "problem"
	Off     Status = "off" // not in use, which is no problem
)

// Check is one finding.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do about a warning or a problem, or to switch on what is off

	// For a host it is registered with.
	Scope         install.Scope `json:"scope,omitempty"`
	Command       []string      `json:"command,omitempty"`
	Tools         int           `json:"tools,omitempty"`
	ServerName    string        `json:"server_name,omitempty"`
	ServerVersion string        `json:"server_version,omitempty"`
	DurationMS    int64         `json:"duration_ms,omitempty"` // until tools/list was answered

	Path  string `json:"path,omitempty"`  // of the configuration file, or of the cache
	Bytes *int64 `json:"bytes,omitempty"` // size of the cache
}

// Versions are those of the programs involved.
type Versions struct {
	Convtools string `json:"convtools"`
	Go        string `json:"go"`           // that built it
	JP        string `json:"jp,omitempty"` // as it says it; empty where there is none in PATH
}

// Report is everything that was found.
type Report struct {
	Versions Versions `json:"versions"`
	Checks   []Check  `json:"checks"`
	Warnings int      `json:"warnings"`
	Problems int      `json:"problems"`
}

// Examine looks at everything. It always has a report: what cannot be looked at
// is a problem in it. It takes no longer than the slowest thing it waits for.
func Examine(ctx context.Context, c Config) Report {
	var jp, hosts []Check
	r := Report{Versions: Versions{Convtools: c.Version, Go: runtime.Version()}}
	var probing sync.WaitGroup
	probing.Go(func() { r.Versions.JP, jp = c.jp(ctx) })
	probing.Go(func() { hosts = c.hosts(ctx) })
	program := c.program()
	w, found := c.workspace()
	checks := []Check{program, found}
	if w != nil {
		checks = append(checks, userStore(w))
	}
	checks = append(checks, c.conversations(ctx, w != nil)...)
	checks = append(checks, c.knowledge(ctx))
	probing.Wait()

	r.add(Check{Name: "versions", Status: OK, Detail: r.Versions.String()})
	r.add(jp...)
	r.add(checks...)
	r.add(c.cache())
	r.add(hosts...)
	return r
}

func (r *Report) add(checks ...Check) {
	for _, c := range checks {
		switch c.Status {
		case Warning:
			r.Warnings++
		case Problem:
			r.Problems++
		}
		r.Checks = append(r.Checks, c)
	}
}

func (v Versions) String() string {
	text := "convtools " + v.Convtools + ", " + v.Go
	if v.JP != "" {
		text += ", " + v.JP
	}
	return text
}

// program says which program this is, and whether the one in PATH is another.
func (c Config) program() Check {
	check := Check{Name: "program", Status: OK, Detail: c.Install.Program}
	if c.Install.ProgramName != "" {
		return check
	}
	other, err := c.LookPath("convtools")
	if err != nil {
		check.Detail += ", not in PATH"
		return check
	}
	check.Status = Problem
	check.Detail += "; PATH finds another one first: " + other
	check.Fix = "remove one of the two, or put the directory of the one to use first in PATH"
	return check
}

func (c Config) workspace() (*jp.Workspace, Check) {
	check := Check{Name: "workspace"}
	w, err := jp.Open(jp.Options{Dir: c.Dir, Getenv: c.Install.Getenv})
	if err != nil {
		check.Status, check.Detail = Problem, err.Error()
		check.Fix = "change to a project that has a .jp directory, or name one with --workspace DIR"
		var missing *store.NoWorkspaceError
		if errors.As(err, &missing) {
			check.Detail = "none in " + missing.Dir + " or above it"
			_, configured := kbconfig.FindRoot(c.Dir)
			switch {
			case missing.Missing:
				check.Detail = missing.Dir + " does not exist"
			case configured: // for its knowledge, which does not take a workspace
				check.Status, check.Fix = Off, ""
				check.Detail += ", so there are no conversations to look up"
			}
		}
		return nil, check
	}
	check.Status, check.Detail = OK, w.Root()
	if w.ID() != "" {
		check.Detail += " (" + w.ID() + ")"
	}
	return w, check
}

func userStore(w *jp.Workspace) Check {
	check := Check{Name: "user data", Status: OK, Detail: w.UserStore()}
	if check.Detail == "" {
		check.Status, check.Detail = Off, "JP keeps nothing about this workspace outside of it"
	}
	return check
}
