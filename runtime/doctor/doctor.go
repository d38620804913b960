// Package doctor examines an installation: the versions, the program, what the families of tools depend on, and every
// host that the program is registered with. It starts each registered command as the host does.
//
// It changes nothing, and waits for no program without a limit. It runs a command from a project's own file only if the
// command is this program with arguments that [install] writes: a project may come from anywhere, and its author must
// not choose what doctor starts.
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

// Config has the dependencies of an examination.
type Config struct {
	// Version is the version of this program.
	Version string
	// Registry has the families whose checks are part of the report.
	Registry *toolset.Registry
	// Install has the places of hosts' configurations and the name of the program.
	Install install.Options
	// Dir is the directory of the project, as in [toolset.Host].
	Dir string
	// Runner runs programs. Connect starts a registered server, as the function [Connect] does.
	Runner  process.Runner
	Connect func(process.Command) (transport mcp.Transport, stop func() (stderr []byte), err error)
	// LookPath finds programs in PATH, as [exec.LookPath] does.
	LookPath func(name string) (string, error)
	// Now returns the time.
	Now func() time.Time
}

// Check is one finding.
type Check struct {
	toolset.Check

	// Only for a host that the program is registered with:
	Scope         install.Scope `json:"scope,omitempty"`
	Command       []string      `json:"command,omitempty"`
	Tools         int           `json:"tools,omitempty"`
	ServerName    string        `json:"server_name,omitempty"`
	ServerVersion string        `json:"server_version,omitempty"`
	DurationMS    int64         `json:"duration_ms,omitempty"` // until tools/list was answered
	Path          string        `json:"path,omitempty"`        // of the configuration file
}

// Report has all findings.
type Report struct {
	Versions map[string]string `json:"versions"` // of this program, of Go, and of the JP in PATH
	Checks   []Check           `json:"checks"`
	Warnings int               `json:"warnings"`
	Problems int               `json:"problems"`
}

// Examine returns the report about the installation, with what fails as a problem or a warning. Programs run together.
func Examine(ctx context.Context, c Config) Report {
	var jpChecks []toolset.Check
	var hostChecks []*Check
	var jpVersion string
	var probing sync.WaitGroup
	probing.Go(func() { jpVersion, jpChecks = c.jp(ctx) })
	probing.Go(func() { hostChecks = c.hosts(ctx) })
	familyChecks := c.families(ctx)
	probing.Wait()

	r := Report{Versions: map[string]string{c.Install.Name: c.Version, "go": runtime.Version()}}
	versions := c.Install.Name + " " + c.Version + ", " + runtime.Version()
	if jpVersion != "" {
		r.Versions["jp"] = jpVersion
		versions += ", " + jpVersion
	}
	r.add(toolset.Check{Name: "versions", Status: toolset.OK, Detail: versions})
	r.add(jpChecks...)
	r.add(c.program())
	r.add(familyChecks...)
	for _, check := range hostChecks {
		r.addCheck(*check)
	}
	return r
}

// families returns the checks of the families, in their order.
func (c Config) families(ctx context.Context) []toolset.Check {
	var checks []toolset.Check
	for _, f := range c.Registry.Families() {
		if f.Checks != nil {
			checks = append(checks, f.Checks(ctx)...)
		}
	}
	return checks
}

// add adds checks that are not about a registration.
func (r *Report) add(checks ...toolset.Check) {
	for _, c := range checks {
		r.addCheck(Check{Check: c})
	}
}

// addCheck adds a check to the report and to the numbers of warnings and problems.
func (r *Report) addCheck(c Check) {
	switch c.Status {
	case toolset.Warning:
		r.Warnings++
	case toolset.Problem:
		r.Problems++
	}
	r.Checks = append(r.Checks, c)
}

// program returns the check of this program: its path, or the problem that PATH finds another program with its name.
func (c Config) program() toolset.Check {
	check := toolset.Check{Name: "program", Status: toolset.OK, Detail: c.Install.Program}
	if c.Install.ProgramName != "" { // PATH finds this program
		return check
	}
	inPath, err := c.LookPath(c.Install.Name)
	if err != nil {
		check.Detail += ", not in PATH"
		return check
	}
	check.Status = toolset.Problem
	check.Detail += "; PATH finds another one first: " + inPath
	check.Fix = "remove one of the two, or put the directory of the one to use first in PATH"
	return check
}
