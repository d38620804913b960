// Package doctor looks at an installation and reports what works and what does
// not: the versions and the program, what the families of tools depend on, and
// every host this program is registered with, whose registered command it starts
// the way the host does.
//
// It changes nothing, and waits for no program without a limit. What a project's
// own files tell it to run, it runs only if that is this very program with the
// arguments [install] writes: a project may come from anywhere, and looking at it
// must not start what its author likes.
package doctor

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// Config is what the examination depends on.
type Config struct {
	// Version is the version of this program.
	Version string
	// Registry has the families whose findings are part of the report.
	Registry *toolset.Registry
	// Install is where hosts keep their configuration, and what this program is
	// called.
	Install install.Options
	// Dir is where the project is looked for, as [toolset.Host] has it.
	Dir string
	// Runner runs programs, and Connect starts a registered server, as the function
	// [Connect] does.
	Runner  process.Runner
	Connect func(process.Command) (transport mcp.Transport, stop func() (said []byte), err error)
	// LookPath finds programs in PATH, as [exec.LookPath] does.
	LookPath func(name string) (string, error)
	// Now is the clock by which answers are timed.
	Now func() time.Time
}

// Check is one finding.
type Check struct {
	toolset.Check

	// For a host it is registered with.
	Scope         install.Scope `json:"scope,omitempty"`
	Command       []string      `json:"command,omitempty"`
	Tools         int           `json:"tools,omitempty"`
	ServerName    string        `json:"server_name,omitempty"`
	ServerVersion string        `json:"server_version,omitempty"`
	DurationMS    int64         `json:"duration_ms,omitempty"` // until tools/list was answered
	Path          string        `json:"path,omitempty"`        // of the configuration file
}

// Report is everything that was found.
type Report struct {
	Versions map[string]string `json:"versions"` // of programs: this one, Go, and JP as it prints it, where it is in PATH
	Checks   []Check           `json:"checks"`
	Warnings int               `json:"warnings"`
	Problems int               `json:"problems"`
}

// Examine looks at everything. It always has a report: what cannot be looked at
// is a problem in it. It takes no longer than the slowest thing it waits for.
func Examine(ctx context.Context, c Config) Report {
	var jp []toolset.Check
	var hosts []Check
	var version string // of JP
	var probing sync.WaitGroup
	probing.Go(func() { version, jp = c.jp(ctx) })
	probing.Go(func() { hosts = c.hosts(ctx) })
	families := c.families(ctx)
	probing.Wait()

	r := Report{Versions: map[string]string{c.Install.Name: c.Version, "go": runtime.Version()}}
	versions := c.Install.Name + " " + c.Version + ", " + runtime.Version()
	if version != "" {
		r.Versions["jp"] = version
		versions += ", " + version
	}
	r.add(toolset.Check{Name: "versions", Status: toolset.OK, Detail: versions})
	r.add(jp...)
	r.add(c.program())
	r.add(families...)
	for _, host := range hosts {
		r.addCheck(host)
	}
	return r
}

// families returns what the families find, in their order.
func (c Config) families(ctx context.Context) []toolset.Check {
	var checks []toolset.Check
	for _, f := range c.Registry.Families() {
		if f.Checks != nil {
			checks = append(checks, f.Checks(ctx)...)
		}
	}
	return checks
}

func (r *Report) add(checks ...toolset.Check) {
	for _, c := range checks {
		r.addCheck(Check{Check: c})
	}
}

func (r *Report) addCheck(c Check) {
	switch c.Status {
	case toolset.Warning:
		r.Warnings++
	case toolset.Problem:
		r.Problems++
	}
	r.Checks = append(r.Checks, c)
}

// program reports which program this is, and whether the one in PATH is another.
func (c Config) program() toolset.Check {
	check := toolset.Check{Name: "program", Status: toolset.OK, Detail: c.Install.Program}
	if c.Install.ProgramName != "" {
		return check
	}
	other, err := c.LookPath(c.Install.Name)
	if err != nil {
		check.Detail += ", not in PATH"
		return check
	}
	check.Status = toolset.Problem
	check.Detail += "; PATH finds another one first: " + other
	check.Fix = "remove one of the two, or put the directory of the one to use first in PATH"
	return check
}
