// Package install registers this program with its hosts, the programs that use it: it finds a host's configuration
// file, plans the one change to it, shows that change, makes it, and undoes it.
//
// A configuration file belongs to its user. This package changes only the entry of this program, follows links
// instead of replacing them, and does not touch a file that it does not understand. It keeps a copy of a file in the
// user's own state before it writes the file. It never removes an entry that does not start this program, never
// starts a program, and never asks questions: the caller asks between planning and applying a change.
package install

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/configedit"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// Scope is the part of a host's configuration that has the entry.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // for all projects of the user
	Project Scope = "project" // for one project, in a file that people share
)

// Options describes this program and the project of a plan.
type Options struct {
	// Name is the name of this program, also in PATH. Entry is its name in configuration files if that is another
	// one.
	Name, Entry string
	// JPFiles are the files that define its tools for JP.
	JPFiles []contract.File
	// GOOS is the operating system, as in package runtime.
	GOOS string
	// Getenv looks up the environment: HOME and the like, and the variables by which hosts move their files.
	Getenv func(string) string
	// Scope is the scope of the entry. Empty is the host's default.
	Scope Scope
	// Project is the absolute path of the project's directory, which has the project's configuration files.
	Project string
	// Workspace is the absolute path of the workspace, or empty. A server is bound to it if the host knows no
	// projects.
	Workspace string
	// Bind binds the server to Workspace with every host.
	Bind bool
	// Program is the absolute path of this program.
	Program string
	// ProgramName is the name of Program in PATH, or empty. Files that people share have this name.
	ProgramName string
	// Flags are the flags of all families. Settings are the flags that start the server, with their values, as words.
	// Advice are sentences about the steps that are left then.
	Flags            []toolset.Flag
	Settings, Advice []string
	// Hook adds a start hook; an existing one stays without.
	Hook bool
	// Variables are the names of the environment variables that this program needs if they are set.
	Variables []string
}

func (o Options) entry() string { return cmp.Or(o.Entry, o.Name) }

// errNoWorkspace is the error for a host that knows no projects, without a workspace.
var errNoWorkspace = errors.New("the host starts servers outside of any project, and no workspace was found to bind the server to; name one with --workspace DIR")

// plan begins a change: it finds and reads the file.
func (h Host) plan(opts Options) (*Change, error) {
	scope := cmp.Or(opts.Scope, h.Scopes[0])
	path, err := h.path(scope, opts)
	if err != nil {
		return nil, err
	}
	change := &Change{Host: h.Name, Scope: scope, Path: path, stay: []string{opts.Project}}
	if h.format == 0 {
		change.stay = []string{path}
	} else if dir, err := home(opts); err == nil {
		change.stay = append(change.stay, dir)
	}
	change.backups, err = backupDir(opts)
	return change, err
}

// path returns the path of a host's file for a scope.
func (h Host) path(scope Scope, opts Options) (string, error) {
	if err := h.CheckScope(scope); err != nil {
		return "", err
	}
	candidates, err := h.site(scope).candidates(opts)
	if err == nil && h.format == 0 {
		err = opts.checkJP(candidates[0])
	}
	if err != nil {
		return "", err
	}
	return candidates[max(slices.IndexFunc(candidates, exists), 0)], nil
}

// CheckScope returns an error for a scope that a host does not have.
func (h Host) CheckScope(scope Scope) error {
	if slices.Contains(h.Scopes, scope) {
		return nil
	}
	return fmt.Errorf("%s cannot be registered with for scope %s, only for: %s", h.Title, scope, h.ScopeNames())
}

// ScopeNames returns the scopes of a host, the default first.
func (h Host) ScopeNames() string {
	var names []string
	for _, s := range h.Scopes {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// PlanInstall plans the registration with a host. It reads files and changes none. The error is a *ManualError for a
// file that cannot be edited.
func PlanInstall(host Host, opts Options) (*Change, error) {
	if err := opts.lasting(); err != nil {
		return nil, err
	}
	change, err := host.plan(opts)
	if err != nil {
		return nil, err
	}
	if host.format == 0 {
		if err := change.installJP(opts); err != nil {
			return nil, err
		}
		change.Advice = append(change.Advice, opts.Advice...)
		change.noteSharedPath(opts)
		return change, nil
	}
	server, err := host.server(change.Scope, opts)
	if err != nil {
		return nil, err
	}
	change.Advice = slices.Concat(host.site(change.Scope).advice, opts.Advice)
	if hint := host.Unattended(opts); hint != "" {
		change.Advice = append(change.Advice, hint)
	}
	current, err := readFile(change.Path)
	path, pathErr := host.entryPath(current.data, opts)
	there, _, _ := configedit.Get(host.format, current.data, path) // installEntry reports the error
	members := append(host.entry(path, server), host.forwarded(there, opts)...)
	if err = errors.Join(err, pathErr); err == nil {
		err = change.installEntry(host, current, path, members, opts)
	}
	if err != nil {
		manual := leftAlone(change.Path, err)
		manual.addByHand(host.format, path, members)
		return nil, manual
	}
	if opts.Hook {
		if err := change.planHook(host, opts, true); err != nil {
			return nil, err
		}
	}
	change.noteSharedPath(opts)
	return change, nil
}

// installEntry plans to set the entry of a configuration file.
func (c *Change) installEntry(host Host, current snapshot, path []string, members []configedit.Member, opts Options) error {
	entry, there, err := configedit.Get(host.format, current.data, path)
	if err != nil {
		return err
	}
	if there && !startsCommand(entry) {
		return &configedit.ConflictError{Path: path, Detail: "is there already and starts no command", Fix: "remove that entry, or give it another name"}
	}
	r := Registration{Path: c.Path}
	r.read(entry)
	if r.Disabled {
		c.note("The entry is switched off, and stays so. To switch it on, %s.", r.SwitchOn())
	}
	after, err := configedit.Set(host.format, current.data, path, members)
	if err != nil {
		return err
	}
	if current.exists && bytes.Equal(after, current.data) {
		return nil
	}
	if err := current.writable(); err != nil {
		return err
	}
	set := map[string]any{}
	for _, m := range members {
		set[m.Key] = m.Value
	}
	if there && !host.startsThis(entry, opts) {
		c.noteTakenOver(entry, set)
	}
	c.add(current, after, marked("+", configedit.Snippet(host.format, path, members)))
	return nil
}

// noteTakenOver adds a note about the keys that stay of an entry that another program or person has written.
func (c *Change) noteTakenOver(entry, set map[string]any) {
	var kept []string
	for key := range entry {
		if _, ok := set[key]; !ok {
			kept = append(kept, key)
		}
	}
	if slices.Sort(kept); len(kept) > 0 {
		c.note("The entry was there already, for another command. What else is in it stays: %s.", strings.Join(kept, ", "))
	}
}

// noteSharedPath adds a note if a file that people share has a path of this computer.
func (c *Change) noteSharedPath(o Options) {
	if len(c.Files) > 0 && c.Scope == Project && o.ProgramName == "" {
		c.note("What people of the project share names %s, a path of this computer. Put its folder in PATH and install again to have it named %s.", o.Program, o.Name)
	}
}

// lasting returns an error for a program that will be removed soon: go run removes its program at its end. A
// temporary folder in PATH is somebody's choice.
func (o Options) lasting() error {
	dir := filepath.Dir(o.Program)
	built := slices.ContainsFunc(strings.Split(filepath.ToSlash(dir), "/"), func(name string) bool {
		return strings.HasPrefix(name, "go-build")
	})
	inTemp := func(name string) bool {
		temp := o.Getenv(name)
		if name == "TMPDIR" && temp == "" {
			temp = "/tmp"
		}
		rel, err := filepath.Rel(temp, dir)
		return filepath.IsAbs(temp) && err == nil && filepath.IsLocal(rel)
	}
	if built || o.ProgramName == "" && slices.ContainsFunc([]string{"TMPDIR", "TEMP", "TMP"}, inTemp) {
		return fmt.Errorf("this program is in a folder for temporary files, %s, where hosts would not find it for long; install it first, for example with go install, and register that one", dir)
	}
	return nil
}

// PlanUninstall plans the removal of the entry that [PlanInstall] makes, or of an entry for this program that its
// user has changed since. Empty tables around it go too, and so does a file that has nothing else. The error is a
// *ManualError for a file that has to be edited by hand.
func PlanUninstall(host Host, opts Options) (*Change, error) {
	change, err := host.plan(opts)
	if err != nil {
		return nil, err
	}
	if host.format == 0 {
		if err := change.uninstallJP(opts); err != nil {
			return nil, err
		}
		return change, nil
	}
	current, err := readFile(change.Path)
	if err == nil && current.exists {
		err = change.uninstallEntry(host, current, opts)
	}
	if err != nil {
		return nil, leftAlone(change.Path, err)
	}
	if host.HasHook() {
		if err := change.planHook(host, opts, false); err != nil {
			return nil, err
		}
	}
	return change, nil
}

// uninstallEntry plans the removal of this program's entry from a configuration file, of tables that become empty, and
// of the file if nothing is left in it. An entry that does not start this program is a [*configedit.ConflictError].
func (c *Change) uninstallEntry(host Host, current snapshot, opts Options) error {
	path, err := host.entryPath(current.data, opts)
	if err != nil {
		return err
	}
	entry, there, err := configedit.Get(host.format, current.data, path)
	if err != nil || !there {
		return err
	}
	if !host.startsThis(entry, opts) {
		return &configedit.ConflictError{Path: path, Detail: "does not start this program as install has it started; remove it by hand if it is not needed"}
	}
	if err := current.writable(); err != nil {
		return err
	}
	after, err := configedit.Remove(host.format, current.data, path)
	if err != nil {
		return err
	}
	if after, err = withoutEmpty(host.format, after, path[:len(path)-1]); err != nil {
		return err
	}
	c.add(current, current.orNone(after), "-"+strings.Join(path, ".")+"\n")
	return nil
}

// withoutEmpty returns a document without the table at path if that is empty, and without the tables around it that
// are empty then.
func withoutEmpty(format configedit.Format, src []byte, path []string) ([]byte, error) {
	for ; len(path) > 0; path = path[:len(path)-1] {
		table, ok, err := configedit.Get(format, src, path)
		if err != nil || !ok || len(table) > 0 {
			break
		}
		if src, err = configedit.Remove(format, src, path); err != nil {
			return nil, err
		}
	}
	return src, nil
}
