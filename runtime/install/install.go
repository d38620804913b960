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
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/configedit"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// Scope is the part of a host's configuration that has the entry of this program.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // for all projects of the user
	Project Scope = "project" // for one project, in a file that people share
)

// Options describes this program and the project of a plan.
type Options struct {
	// Name is the name of this program, also in PATH. Entry is the name of its entry in hosts' files; empty is Name.
	Name, Entry string
	JPFiles     []contract.File     // define the tools of this program for JP
	GOOS        string              // the operating system, as in package runtime
	Getenv      func(string) string // looks up HOME and the like, and the variables by which hosts move their files
	Scope       Scope               // of the entry; empty is the host's default
	Project     string              // the absolute path of the project's directory, which has the project's configuration files
	Workspace   string              // the absolute path of the workspace, or empty; for hosts that know no projects
	Bind        bool                // an entry of scope User has Workspace with every host
	Program     string              // the absolute path of this program
	ProgramName string              // the name of Program in PATH, or empty; files that people share have this name
	// Flags are the flags of all families. Settings are the flags of the entry, with their values, as words. Advice are
	// sentences about the steps that are left for the user because of Settings.
	Flags            []toolset.Flag
	Settings, Advice []string
	Hook             bool     // installing adds the start hook; otherwise it keeps an existing start hook
	Variables        []string // the names of the environment variables that this program needs if they are set
}

func (o Options) entry() string { return cmp.Or(o.Entry, o.Name) }

// errNoWorkspace is the error for a host that knows no projects, without a workspace.
var errNoWorkspace = errors.New("the host starts servers outside of any project, and no workspace was found to bind the server to; name one with --workspace DIR")

// newChange returns a change without files, for the path that [Host.path] returns. It reads no file. It sets the
// folders that stay when the removal of a file leaves them empty. The error is that of [Host.path], or that there is no
// folder for copies.
func (h Host) newChange(opts Options) (*Change, error) {
	scope := cmp.Or(opts.Scope, h.Scopes[0])
	path, err := h.path(scope, opts)
	if err != nil {
		return nil, err
	}
	change := &Change{Host: h.Name, Scope: scope, Path: path, stay: []string{opts.Project}}
	if h.isJP() {
		change.stay = []string{path} // the .jp directory, which JP made
	} else if homeDir, err := home(opts); err == nil {
		change.stay = append(change.stay, homeDir)
	}
	change.backups, err = expand("{state}/"+opts.Name+"/install", opts) // beside the files, copies would end up in version control
	if err != nil {
		return nil, fmt.Errorf("finding the folder for a copy of the file: %w", err)
	}
	return change, nil
}

// path returns the path of a host's file for a scope: the first candidate that exists, or the first candidate if none
// does. For JP the only candidate is the .jp directory. The error is that the host does not have the scope, or that the
// home directory is not known; for JP, also that the directory is missing or that the options have no files for JP.
func (h Host) path(scope Scope, opts Options) (string, error) {
	if err := h.CheckScope(scope); err != nil {
		return "", err
	}
	candidates, err := h.site(scope).candidates(opts)
	if err == nil && h.isJP() {
		err = opts.checkJP(candidates[0]) // the only candidate
	}
	if err != nil {
		return "", err
	}
	first := max(slices.IndexFunc(candidates, exists), 0) // the index is -1 if none exists
	return candidates[first], nil
}

// CheckScope returns an error for a scope that a host does not have.
func (h Host) CheckScope(scope Scope) error {
	if slices.Contains(h.Scopes, scope) {
		return nil
	}
	return fmt.Errorf("%s cannot be registered with for scope %s, only for: %s", h.Title, scope, h.ScopeNames())
}

// ScopeNames returns the names of a host's scopes with commas between them, the default first.
func (h Host) ScopeNames() string {
	var names []string
	for _, s := range h.Scopes {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// PlanInstall plans the registration with a host. It reads files and changes none. The error is about the options,
// which are checked first, or a *ManualError for a file that cannot be edited.
func PlanInstall(host Host, opts Options) (*Change, error) {
	if err := opts.checkLasting(); err != nil {
		return nil, err
	}
	change, err := host.newChange(opts)
	if err != nil {
		return nil, err
	}
	if host.isJP() {
		err = change.installJP(opts)
	} else {
		err = change.installServer(host, opts)
	}
	if err != nil {
		return nil, err
	}
	change.Advice = append(change.Advice, opts.Advice...)
	if unattended := host.Unattended(opts); unattended != "" {
		change.Advice = append(change.Advice, unattended)
	}
	if len(change.Files) > 0 && change.Scope == Project && opts.ProgramName == "" { // a shared file has the path of Program
		change.note("What people of the project share names %s, a path of this computer. Put its folder in PATH and install again to have it named %s.", opts.Program, opts.Name)
	}
	return change, nil
}

// installServer plans to set this program's entry in the configuration file of a host, and to add the start hook if
// opts.Hook is set. It sets the advice of the change. The error is a *ManualError for a file that cannot be edited.
func (c *Change) installServer(host Host, opts Options) error {
	command, err := host.command(c.Scope, opts)
	if err != nil {
		return err
	}
	c.Advice = slices.Clip(host.site(c.Scope).advice)
	file, err := host.readEntry(c.Path, opts) // after an error, file still has the path for the entry that a person may write
	members := append(host.entry(file.entryPath, command), host.forwarded(file.entry, opts)...)
	if err == nil {
		err = c.setEntry(host, file, members, opts)
	}
	if err != nil {
		manual := leftAlone(c.Path, err)
		manual.addByHand(host.format, file.entryPath, members)
		return manual
	}
	if opts.Hook {
		return c.planHook(host, opts, true)
	}
	return nil
}

// setEntry plans to set members of this program's entry in a file. An existing entry keeps its other members, and a
// note names these if the entry starts another program. A note also says that a disabled entry stays disabled. An
// existing entry without a command is a *configedit.ConflictError.
func (c *Change) setEntry(host Host, file entryFile, members []configedit.Member, opts Options) error {
	_, hasCommand := file.entry["command"]
	if file.hasEntry && !hasCommand { // such as a server on the network, which has an address
		return &configedit.ConflictError{Path: file.entryPath, Detail: "is there already and starts no command", Fix: "remove that entry, or give it another name"}
	}
	r := Registration{Path: c.Path}
	r.setFrom(file.entry) // sets Disabled
	if r.Disabled {
		c.note("The entry is switched off, and stays so. To switch it on, %s.", r.SwitchOn())
	}
	after, err := configedit.Set(host.format, file.data, file.entryPath, members)
	if err != nil {
		return err
	}
	if file.exists && bytes.Equal(after, file.data) {
		return nil
	}
	if err := file.writable(); err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Sorted(maps.Keys(file.entry)), func(key string) bool {
		return slices.ContainsFunc(members, func(m configedit.Member) bool { return m.Key == key })
	})
	startsOther := file.hasEntry && !host.startsThis(file.entry, opts)
	if startsOther && len(kept) > 0 {
		c.note("The entry was there already, for another command. What else is in it stays: %s.", strings.Join(kept, ", "))
	}
	c.add(file.snapshot, after, marked("+", configedit.Snippet(host.format, file.entryPath, members)))
	return nil
}

// checkLasting returns an error if this program will be removed soon: it is in a go-build folder, which go run removes,
// or in a temporary folder that PATH does not lead to. A temporary folder in PATH is somebody's choice.
func (o Options) checkLasting() error {
	dir := filepath.Dir(o.Program)
	isBuilt := strings.Contains(filepath.ToSlash(dir), "/go-build")
	inTemp := func(variable string) bool {
		temp := o.Getenv(variable)
		if variable == "TMPDIR" && temp == "" {
			temp = "/tmp"
		}
		rel, err := filepath.Rel(temp, dir)
		return filepath.IsAbs(temp) && err == nil && filepath.IsLocal(rel)
	}
	isInPath := o.ProgramName != "" // the name of the program in PATH
	isTemporary := !isInPath && slices.ContainsFunc([]string{"TMPDIR", "TEMP", "TMP"}, inTemp)
	if isBuilt || isTemporary {
		return fmt.Errorf("this program is in a folder for temporary files, %s, where hosts would not find it for long; install it first, for example with go install, and register that one", dir)
	}
	return nil
}

// PlanUninstall plans the removal of the entry that [PlanInstall] makes, even if the user has edited the entry since,
// and of all start hooks of this program. It reads files and changes none. The error is a *ManualError for a file that
// has to be edited by hand. An error of [Host.path] comes first.
func PlanUninstall(host Host, opts Options) (*Change, error) {
	change, err := host.newChange(opts)
	if err != nil {
		return nil, err
	}
	if host.isJP() {
		return change, change.uninstallJP(opts)
	}
	if err := change.removeEntry(host, opts); err != nil {
		return nil, leftAlone(change.Path, err)
	}
	if host.HasHook() {
		return change, change.planHook(host, opts, false)
	}
	return change, nil
}

// removeEntry plans the removal of this program's entry from the file of the change, of the tables around the entry
// that become empty, and of the file if nothing is left in it. Nothing is to do if there is no entry. An entry that
// does not start this program is a [*configedit.ConflictError].
func (c *Change) removeEntry(host Host, opts Options) error {
	file, err := host.readEntry(c.Path, opts)
	if err != nil || !file.hasEntry {
		return err
	}
	if !host.startsThis(file.entry, opts) {
		return &configedit.ConflictError{Path: file.entryPath, Detail: "does not start this program as install has it started; remove it by hand if it is not needed"}
	}
	if err := file.writable(); err != nil {
		return err
	}
	after, err := configedit.Remove(host.format, file.data, file.entryPath)
	if err != nil {
		return err
	}
	if after, err = withoutEmpty(host.format, after, file.entryPath[:len(file.entryPath)-1]); err != nil {
		return err
	}
	c.add(file.snapshot, file.orNone(after), "-"+strings.Join(file.entryPath, ".")+"\n")
	return nil
}

// withoutEmpty returns a document without the table at path if that table is empty, and without the tables around it
// that become empty. It returns the document as it is if path leads to no table.
func withoutEmpty(format configedit.Format, src []byte, path []string) ([]byte, error) {
	for ; len(path) > 0; path = path[:len(path)-1] {
		table, ok, err := configedit.Get(format, src, path)
		if err != nil || !ok || len(table) > 0 { // path leads to a value that is no table, to nothing, or to members
			break
		}
		if src, err = configedit.Remove(format, src, path); err != nil {
			return nil, err
		}
	}
	return src, nil
}
