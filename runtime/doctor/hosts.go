package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// hosts examines every host and starts all registered commands at the same time.
func (c Config) hosts(ctx context.Context) []Check {
	var checks []Check
	var registered []install.Registration // registered[i] belongs to checks[i] if it has a path
	for _, host := range install.Hosts() {
		found := install.Registrations(host, c.Install)
		if len(found) == 0 {
			checks = append(checks, Check{Check: toolset.Check{Name: host.Name, Status: toolset.Off, Detail: notRegistered}})
			registered = append(registered, install.Registration{})
		}
		for _, r := range found {
			checks = append(checks, Check{Check: toolset.Check{Name: host.Name, Hint: host.Unattended(c.Install)}, Scope: r.Scope, Path: r.Path, Command: r.Command})
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

// notRegistered is the finding about a host that has no entry for this program.
const notRegistered = "not registered"

// host completes the check of one registration.
func (c Config) host(ctx context.Context, check *Check, r install.Registration) {
	again := fmt.Sprintf("%s install %s --scope %s", c.Install.Name, r.Host, r.Scope)
	if settings, ok := r.Settings(c.Install); ok && len(settings) > 0 {
		again += " " + process.JoinCommand(settings...)
	}
	check.Fix = again
	check.Status = toolset.Problem
	if r.Err != nil {
		check.Detail = r.Err.Error()
		if len(r.Command) == 0 {
			check.Fix = "correct the file; then " + check.Fix
		}
		if r.Doubtful {
			check.Status, check.Fix = toolset.Warning, "correct the file"
			check.Detail = "the file cannot be read, and probably has no entry for this program: " + check.Detail
		}
		return
	}
	if r.Disabled {
		check.Status, check.Fix = toolset.Off, r.SwitchOn()
		check.Detail = "registered, but switched off there"
		return
	}
	if r.URL != "" {
		check.Status, check.Fix = toolset.OK, ""
		check.Detail = "http: " + r.URL + ", not started by doctor, and not tried"
		return
	}
	r.Command = c.expand(r.Command)
	if relative(r.Command[0]) {
		check.Status = toolset.Warning
		check.Detail = "not started: which program " + r.Command[0] + " is depends on the directory that the host starts it in"
		check.Fix = "name the program by an absolute path: " + again
		return
	}
	if err := c.trusted(r); err != nil {
		check.Detail = "not started: " + err.Error()
		return
	}
	if r.Host == "jp" {
		c.hostJP(ctx, check, r)
		return
	}
	got, err := c.probe(ctx, r)
	if err != nil {
		check.Detail = err.Error()
		return
	}
	check.Status, check.Fix = toolset.OK, ""
	check.Tools, check.ServerName, check.ServerVersion = got.tools, got.name, got.version
	check.DurationMS = got.took.Milliseconds()
	check.Detail = fmt.Sprintf("answers with %s in %d ms, and is %s %s", text.Count(got.tools, "tool", "tools"), check.DurationMS, got.name, got.version)
	if got.version != c.Version {
		check.Status = toolset.Warning
		check.Detail += ", while this is " + c.Version
		check.Fix = "have the host start this program: " + again + "; or update the other one"
	}
}

// hostJP calls a tool as JP does, and reports whether JP loads the registered definitions.
func (c Config) hostJP(ctx context.Context, check *Check, r install.Registration) {
	start := c.Now()
	if err := c.probeJP(ctx, r); err != nil {
		check.Detail = err.Error()
		return
	}
	check.DurationMS = c.Now().Sub(start).Milliseconds()
	check.Status, check.Fix = toolset.OK, ""
	check.Detail = fmt.Sprintf("answers in %d ms", check.DurationMS)
	lacks, sure := install.JPSettings(c.Install)
	switch {
	case len(lacks) == 0:
	case sure:
		check.Status, check.Fix = toolset.Warning, strings.Join(lacks, " ")
		check.Detail += ", but the workspace's configuration does not have JP load it"
	default:
		check.Detail += "; what .jp/config.toml does not tell, the workspace's configuration has to: " + strings.Join(lacks, " ")
	}
}

// expand replaces the variable that hosts replace with the project's directory.
func (c Config) expand(command []string) []string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = strings.ReplaceAll(word, "${workspaceFolder}", c.Install.Project)
	}
	return words
}

// relative reports whether a path of a program depends on the working directory. A name without a path is looked up
// in PATH.
func relative(program string) bool {
	return !filepath.IsAbs(program) && filepath.Base(program) != program
}

// trusted returns why a registered command must not be started. Commands in the user's own files may be.
func (c Config) trusted(r install.Registration) error {
	if r.Scope == install.User {
		return nil
	}
	path, err := c.LookPath(r.Command[0])
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
	if _, ok := r.Settings(c.Install); !ok {
		return errors.New("the project's file gives it arguments that were not written by install")
	}
	return nil
}
