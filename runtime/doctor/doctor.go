// Package doctor looks at an installation and says what works and what does not:
// the workspace, the command line in use, and every host this program is
// registered with, whose registered command it starts the way the host does.
//
// It changes nothing. What a project's own files tell it to run, it runs only if
// that is this very program with the arguments [install] writes: a project may
// come from anywhere, and looking at it must not start what its author likes.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/workspace"
)

// Config is what the examination depends on.
type Config struct {
	Version string
	// Install says where hosts keep their configuration, and what this program
	// is called.
	Install install.Options
	// Dir is where the workspace is looked for, upwards. Empty means the working
	// directory.
	Dir string
	// CLI runs the conversation command line.
	CLI contract.CLI
	// Runner starts the registered commands.
	Runner process.Runner
	// Now is the clock by which answers are timed.
	Now func() time.Time
}

// Status says how something is.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Problem Status = "problem"
	Off     Status = "off" // not in use, which is no problem
)

// Check is one finding.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do about a problem

	// For a host it is registered with.
	Scope   install.Scope `json:"scope,omitempty"`
	Path    string        `json:"path,omitempty"`
	Command []string      `json:"command,omitempty"`
	Tools   int           `json:"tools,omitempty"`
	Millis  int64         `json:"millis,omitempty"` // until tools/list was answered
}

// Report is everything that was found.
type Report struct {
	Version  string  `json:"version"`
	Checks   []Check `json:"checks"`
	Problems int     `json:"problems"`
}

// Examine looks at everything. It always has a report: what cannot be looked at
// is a problem in it.
func Examine(ctx context.Context, c Config) Report {
	r := Report{Version: c.Version}
	r.add(c.program())
	w, check := c.workspace()
	r.add(check)
	if w != nil {
		r.add(userStore(w))
		r.add(c.conversations(ctx)...)
	}
	r.add(c.commandLine())
	r.add(c.hosts(ctx)...)
	r.add(Check{Name: "cache", Status: Off, Detail: "nothing is cached"})
	return r
}

func (r *Report) add(checks ...Check) {
	for _, c := range checks {
		if c.Status == Problem {
			r.Problems++
		}
		r.Checks = append(r.Checks, c)
	}
}

// program says which program this is, and whether the one in PATH is another.
func (c Config) program() Check {
	check := Check{Name: "program", Status: OK, Detail: c.Install.Program}
	if c.Install.ProgramName != "" {
		return check
	}
	other, err := exec.LookPath("convtools")
	if err != nil {
		check.Detail += ", not in PATH"
		return check
	}
	check.Status = Problem
	check.Detail += "; PATH finds another one first: " + other
	check.Fix = "remove one of the two, or put the directory of the one to use first in PATH"
	return check
}

func (c Config) workspace() (*workspace.Workspace, Check) {
	check := Check{Name: "workspace"}
	w, err := workspace.Open(workspace.Options{Dir: c.Dir, Getenv: c.Install.Getenv})
	if err != nil {
		check.Status, check.Detail = Problem, err.Error()
		check.Fix = "change to a project that has a .jp directory, or name one with --workspace DIR"
		var missing *workspace.NotLocatedError
		if errors.As(err, &missing) {
			check.Detail = "none in " + missing.Dir + " or above it"
		}
		return nil, check
	}
	check.Status, check.Detail = OK, w.Root()
	if w.ID() != "" {
		check.Detail += " (" + w.ID() + ")"
	}
	return w, check
}

func userStore(w *workspace.Workspace) Check {
	check := Check{Name: "user data", Status: OK, Detail: w.UserStore()}
	if check.Detail == "" {
		check.Status, check.Detail = Off, "JP keeps nothing about this workspace outside of it"
	}
	return check
}

// conversations counts them, and reads them all, through the command line that
// the tools use. The damaged ones are named, a few of them.
func (c Config) conversations(ctx context.Context) []Check {
	const named = 5
	check := Check{Name: "conversations", Status: OK}
	var counts []string
	var damaged []string
	for _, set := range []struct{ name, flag string }{{"live", "--archived=false"}, {"archived", "--archived"}} {
		total, broken, err := c.list(ctx, set.flag)
		if err != nil {
			check.Status, check.Detail = Problem, err.Error()
			check.Fix = "see what convtools conversation ls says"
			return []Check{check}
		}
		counts = append(counts, fmt.Sprintf("%d %s", total, set.name))
		damaged = append(damaged, broken...)
	}
	check.Detail = strings.Join(counts, ", ")
	if len(damaged) == 0 {
		return []Check{check}
	}
	shown := damaged[:min(len(damaged), named)]
	if more := len(damaged) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return []Check{check, {
		Name: "damaged", Status: Problem, Detail: strings.Join(shown, ", "),
		Fix: "restore them from a backup, or move them out of .jp/conversations",
	}}
}

// list lists a set of conversations, and returns how many there are and those
// that cannot be read, each with the reason.
func (c Config) list(ctx context.Context, set string) (total int, damaged []string, err error) {
	args := []string{"conversation", "ls", "--format=json", "--summary", "--hidden", "--limit=0", set}
	stdout, stderr, exit, err := c.CLI.RunCLI(ctx, conversation.ListCLI, contract.Context{Dir: c.Dir}, args)
	if err != nil {
		return 0, nil, err
	}
	var rows []struct {
		ID      string  `json:"id"`
		Error   *string `json:"error"`
		Summary *struct {
			Total   int `json:"total"`
			Skipped []struct {
				ID     string `json:"id"`
				Reason string `json:"reason"`
			} `json:"skipped"`
		} `json:"summary"`
	}
	if err := json.Unmarshal(stdout, &rows); err != nil || len(rows) == 0 || rows[len(rows)-1].Summary == nil {
		said, _, _ := strings.Cut(strings.TrimSpace(string(stderr)), "\n")
		return 0, nil, fmt.Errorf("the command line does not list them (exit code %d): %s", exit, said)
	}
	for _, row := range rows {
		if row.Error != nil {
			damaged = append(damaged, fmt.Sprintf("%s (%s)", row.ID, *row.Error))
		}
	}
	summary := rows[len(rows)-1].Summary
	for _, s := range summary.Skipped {
		damaged = append(damaged, fmt.Sprintf("%s (%s)", s.ID, s.Reason))
	}
	return summary.Total, damaged, nil
}

// commandLine says which program serves the conversation command line.
func (c Config) commandLine() Check {
	check := Check{Name: "command line", Status: OK, Detail: "built in"}
	cli, _ := generated.LookupCLI(conversation.ListCLI)
	chosen := strings.TrimSpace(c.Install.Getenv(cli.Env))
	if chosen == "" {
		return check
	}
	check.Detail = fmt.Sprintf("%s (%s)", chosen, cli.Env)
	words, err := process.SplitCommand(chosen)
	if err == nil {
		_, err = exec.LookPath(words[0])
	}
	if err != nil {
		check.Status = Problem
		check.Detail += ": " + err.Error()
		check.Fix = "correct " + cli.Env + ", or unset it to use the built-in command line"
	}
	return check
}

// hosts looks at every host, and starts what is registered with them, all at
// the same time.
func (c Config) hosts(ctx context.Context) []Check {
	var checks []Check
	var registered []install.Registration // checks[i] is about registered[i] where it has a path
	for _, host := range install.Hosts() {
		found := install.Registrations(host, c.Install)
		if len(found) == 0 {
			checks = append(checks, Check{Name: host.Name, Status: Off, Detail: "not registered"})
			registered = append(registered, install.Registration{})
		}
		for _, r := range found {
			checks = append(checks, Check{Name: host.Name, Scope: r.Scope, Path: r.Path, Command: r.Command})
			registered = append(registered, r)
		}
	}
	var running sync.WaitGroup
	for i := range checks {
		if checks[i].Path != "" {
			running.Go(func() { c.host(ctx, &checks[i], registered[i]) })
		}
	}
	running.Wait()
	return checks
}

// host fills in the finding about one registration.
func (c Config) host(ctx context.Context, check *Check, r install.Registration) {
	check.Fix = fmt.Sprintf("convtools install %s --scope %s", r.Host, r.Scope)
	check.Status = Problem
	if r.Err != nil {
		check.Detail = r.Err.Error()
		if len(r.Command) == 0 {
			check.Fix = "correct the file; then " + check.Fix
		}
		return
	}
	if r.Disabled {
		check.Status, check.Fix = Off, ""
		check.Detail = "registered, but switched off there"
		return
	}
	if err := c.trusted(r); err != nil {
		check.Detail = "not started: " + err.Error()
		return
	}
	start := c.Now()
	tools, err := c.probe(ctx, r)
	if err != nil {
		check.Detail = err.Error()
		return
	}
	check.Status, check.Fix = OK, ""
	check.Tools, check.Millis = tools, c.Now().Sub(start).Milliseconds()
	check.Detail = fmt.Sprintf("answers with %d tools in %d ms", tools, check.Millis)
	if r.Host == "jp" {
		check.Detail = fmt.Sprintf("answers in %d ms", check.Millis)
	}
}

// trusted says why a registered command must not be started. A user's own files
// are trusted as the hosts trust them.
func (c Config) trusted(r install.Registration) error {
	if r.Scope == install.User {
		return nil
	}
	path, err := exec.LookPath(r.Command[0])
	if err != nil {
		return err
	}
	theirs, err := os.Stat(path)
	if err != nil {
		return err
	}
	ours, err := os.Stat(c.Install.Program)
	if err != nil {
		return err
	}
	if !os.SameFile(theirs, ours) {
		return fmt.Errorf("the project's file names another program, %s", r.Command[0])
	}
	if !install.Written(r) {
		return errors.New("the project's file gives it arguments that were not written by install")
	}
	return nil
}
