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

// hosts returns a check for each host, or for each of the host's registrations of this program. The checks run together.
func (c Config) hosts(ctx context.Context) []*Check {
	var checks []*Check
	var running sync.WaitGroup
	for _, host := range install.Hosts() {
		registrations := install.Registrations(host, c.Install)
		if len(registrations) == 0 {
			checks = append(checks, &Check{Check: toolset.Check{Name: host.Name, Status: toolset.Off, Detail: notRegistered}})
		}
		for _, r := range registrations {
			check := &Check{Check: toolset.Check{Name: host.Name, Hint: host.Unattended(c.Install)}, Scope: r.Scope, Path: r.Path, Command: r.Command}
			checks = append(checks, check)
			running.Go(func() { c.checkHost(ctx, check, r) })
		}
	}
	running.Wait()
	return checks
}

// notRegistered is the finding about a host that has no entry for this program.
const notRegistered = "not registered"

// checkHost sets the status, the detail and the fix of the check of one registration. It starts the registered command
// unless the registration has an error, is disabled, is a URL, or names a program that doctor must not start.
func (c Config) checkHost(ctx context.Context, check *Check, r install.Registration) {
	installAgain := fmt.Sprintf("%s install %s --scope %s", c.Install.Name, r.Host, r.Scope)
	if settings, ok := r.Settings(c.Install); ok && len(settings) > 0 {
		installAgain += " " + process.JoinCommand(settings...)
	}
	// Until the command has answered, there is a problem, and installing again is the fix.
	check.Status, check.Fix = toolset.Problem, installAgain
	if r.Err != nil {
		check.Detail = r.Err.Error()
		if len(r.Command) == 0 { // the file or the entry cannot be read
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
	if isRelativePath(r.Command[0]) {
		check.Status = toolset.Warning
		check.Detail = "not started: which program " + r.Command[0] + " is depends on the directory that the host starts it in"
		check.Fix = "name the program by an absolute path: " + installAgain
		return
	}
	if err := c.checkTrust(r); err != nil {
		check.Detail = "not started: " + err.Error()
		return
	}
	if r.Host == "jp" {
		c.checkJP(ctx, check, r)
		return
	}
	answered, err := c.probe(ctx, r)
	if err != nil {
		check.Detail = err.Error()
		return
	}
	check.Status, check.Fix = toolset.OK, ""
	check.Tools, check.ServerName, check.ServerVersion = answered.tools, answered.name, answered.version
	check.DurationMS = answered.duration.Milliseconds()
	check.Detail = fmt.Sprintf("answers with %s in %d ms, and is %s %s", text.Count(answered.tools, "tool", "tools"), check.DurationMS, answered.name, answered.version)
	if answered.version != c.Version {
		check.Status = toolset.Warning
		check.Detail += ", while this is " + c.Version
		check.Fix = "have the host start this program: " + installAgain + "; or update the other one"
	}
}

// checkJP runs the command that is registered with JP, and sets the result in check. The status and the fix of a
// failure are there already. If the command succeeds, but JP lacks settings to load the tools, the detail names them,
// and the status is a warning if they are certainly nowhere else.
func (c Config) checkJP(ctx context.Context, check *Check, r install.Registration) {
	start := c.Now()
	if err := c.probeJP(ctx, r); err != nil {
		check.Detail = err.Error()
		return
	}
	check.DurationMS = c.Now().Sub(start).Milliseconds()
	check.Status, check.Fix = toolset.OK, ""
	check.Detail = fmt.Sprintf("answers in %d ms", check.DurationMS)
	missing, certain := install.JPSettings(c.Install)
	if len(missing) == 0 {
		return
	}
	if certain { // no other file of the workspace can have the settings
		check.Status, check.Fix = toolset.Warning, strings.Join(missing, " ")
		check.Detail += ", but the workspace's configuration does not have JP load it"
	} else {
		check.Detail += "; what .jp/config.toml does not tell, the workspace's configuration has to: " + strings.Join(missing, " ")
	}
}

// expand returns a command with the project's directory in place of the variable ${workspaceFolder}, as hosts start it.
func (c Config) expand(command []string) []string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = strings.ReplaceAll(word, "${workspaceFolder}", c.Install.Project)
	}
	return words
}

// isRelativePath reports whether the working directory decides which program is started. A name is looked up in PATH.
func isRelativePath(program string) bool {
	return !filepath.IsAbs(program) && filepath.Base(program) != program
}

// checkTrust returns an error if the registered command must not be started: a project's file names a program that is
// not this one, or gives it other arguments than install does. Commands in the user's own files may be started.
func (c Config) checkTrust(r install.Registration) error {
	if r.Scope == install.User {
		return nil
	}
	path, err := c.LookPath(r.Command[0])
	if err != nil {
		return err
	}
	registered, err := os.Stat(path)
	if err != nil {
		return err
	}
	this, err := os.Stat(c.Install.Program)
	if err != nil {
		return err
	}
	if !os.SameFile(registered, this) {
		return fmt.Errorf("the project's file names another program, %s", r.Command[0])
	}
	if _, ok := r.Settings(c.Install); !ok {
		return errors.New("the project's file gives it arguments that were not written by install")
	}
	return nil
}
