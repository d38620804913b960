// Package install registers this program with the programs that use it, the
// hosts: it finds a host's configuration file, works out the one change to it,
// shows that change, makes it, and undoes it.
//
// A configuration file belongs to its user. This package changes the entry it is
// there for and not a byte beside it, follows links instead of replacing them,
// keeps what was there before in a file beside it, and leaves a file alone that
// it does not understand. It never starts a program and never asks questions:
// that is for the caller, between making a plan and applying it.
package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/jpfiles"
	"github.com/convtools/convtools/runtime/install/internal/configedit"
	"github.com/convtools/convtools/runtime/process"
)

// Scope says for what a host is to know this program.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // for everything this user does
	Project Scope = "project" // for one project, in a file that its people share
)

// entryName is what this program is called in configuration files.
const entryName = "convtools"

// Options says what to plan for.
type Options struct {
	// GOOS is the operating system, as in package runtime.
	GOOS string
	// Getenv looks up the environment. Configuration files are found with it:
	// HOME and its like, and the variables by which hosts move their own.
	Getenv func(string) string
	// Scope is where to register. Empty means the host's default.
	Scope Scope
	// Project is the absolute path of the project's directory. A project's
	// configuration files are looked for there.
	Project string
	// Workspace is the absolute path of the workspace that was found, or empty. A
	// server is bound to it where the host knows nothing of projects.
	Workspace string
	// Bind binds the server to Workspace whatever the host knows.
	Bind bool
	// Program is the absolute path of this program.
	Program string
	// ProgramName is a name by which Program is found in PATH, or empty. Files
	// that people share name the program this way.
	ProgramName string
}

// Change is what has to be done to configuration files. One without files is
// no change: everything is as it should be.
type Change struct {
	Host  string
	Scope Scope
	Files []FileChange
	// Path is the configuration file, or the folder, that was looked at.
	Path string
	// Advice says what is left for the user to do, a sentence each.
	Advice []string
}

// FileChange is a change to one file.
type FileChange struct {
	Path   string // as the host knows it
	Target string // Path with links followed: the file that is written
	Before []byte // nil when there is no file
	After  []byte // nil when the file is to be removed

	before snapshot
	// backup is where Before is kept. saveBackup says that it has to be written,
	// dropBackup that Before's own predecessor is restored and it has served.
	backup                 string
	saveBackup, dropBackup bool
	// emptyDirs are directories to remove when nothing is left in them, the
	// innermost first.
	emptyDirs []string
}

// A ManualError says that a file was left alone, and what its user can write
// into it.
type ManualError struct {
	Path    string
	Err     error
	Snippet string // empty when there is nothing to add
}

func (e *ManualError) Error() string {
	return fmt.Sprintf("%s was left alone: %v", e.Path, e.Err)
}

func (e *ManualError) Unwrap() error { return e.Err }

// errNoWorkspace says that a host that knows nothing of projects has to be told
// of one.
var errNoWorkspace = errors.New("the host starts servers outside of any project, and no workspace was found to bind the server to; name one with --workspace DIR")

// PlanInstall works out how to register with a host. It reads files and changes
// none. A file that cannot be edited is a *ManualError.
func PlanInstall(host Host, opts Options) (*Change, error) {
	place, err := host.place(opts)
	if err != nil {
		return nil, err
	}
	if host.format == 0 {
		return planJPInstall(host, place, opts)
	}
	server, err := host.server(place.scope, opts)
	if err != nil {
		return nil, err
	}
	current, err := readFile(place.path)
	if err != nil {
		return nil, err
	}
	path, err := host.entryPath(current.data)
	members := host.entry(path, server)
	if err == nil {
		err = host.checkOurs(current.data, path)
	}
	var after []byte
	if err == nil {
		after, err = configedit.Set(host.format, current.data, path, members)
	}
	if err != nil {
		return nil, &ManualError{Path: place.path, Err: err, Snippet: configedit.Snippet(host.format, path, members)}
	}
	change := &Change{Host: host.Name, Scope: place.scope, Path: place.path, Advice: host.advice(place.scope)}
	if !current.exists || string(after) != string(current.data) {
		f := current.change(after)
		f.saveBackup = current.exists && !isOriginal(host, path, current, readBackup(f.backup))
		change.Files = append(change.Files, f)
	}
	return change, nil
}

// PlanUninstall works out how to undo [PlanInstall]. Where nothing else has
// changed since, files get the bytes back that they had, and a file that was
// made is removed.
func PlanUninstall(host Host, opts Options) (*Change, error) {
	place, err := host.place(opts)
	if err != nil {
		return nil, err
	}
	if host.format == 0 {
		return planJPUninstall(host, place)
	}
	current, err := readFile(place.path)
	if err != nil {
		return nil, err
	}
	change := &Change{Host: host.Name, Scope: place.scope, Path: place.path}
	path, err := host.entryPath(current.data)
	if err != nil {
		return nil, &ManualError{Path: place.path, Err: err}
	}
	there, err := configedit.Has(host.format, current.data, path)
	if err != nil {
		return nil, &ManualError{Path: place.path, Err: err}
	}
	if !there {
		return change, nil
	}
	f := current.change(nil)
	backup := readBackup(f.backup)
	switch {
	case isOriginal(host, path, current, backup):
		f.After, f.dropBackup = backup.data, true
	case !backup.exists && isOriginal(host, path, current, snapshot{exists: true}):
		f.emptyDirs = place.ownDirs
	default:
		if f.After, err = removeEntry(host, path, current, backup); err != nil {
			return nil, &ManualError{Path: place.path, Err: err}
		}
		f.saveBackup = true
	}
	change.Files = append(change.Files, f)
	return change, nil
}

// isOriginal reports whether registering in the file that was kept gives the
// file that is there: then nothing else has changed in between.
func isOriginal(host Host, path []string, current, kept snapshot) bool {
	if !kept.exists {
		return false
	}
	entry, ok, err := configedit.Get(host.format, current.data, path)
	if there, hasErr := configedit.Has(host.format, kept.data, path); err != nil || !ok || hasErr != nil || there {
		return false
	}
	members, ok := host.written(path, entry)
	if !ok {
		return false
	}
	again, err := configedit.Set(host.format, kept.data, path, members)
	return err == nil && string(again) == string(current.data)
}

// removeEntry removes the entry, and the table around it when it is empty then
// and was not there before.
func removeEntry(host Host, path []string, current, kept snapshot) ([]byte, error) {
	after, err := configedit.Remove(host.format, current.data, path)
	if err != nil {
		return nil, err
	}
	around := path[:len(path)-1]
	table, ok, err := configedit.Get(host.format, after, around)
	if err != nil || !ok || len(table) > 0 || !kept.exists {
		return after, err
	}
	if had, err := configedit.Has(host.format, kept.data, around); err != nil || had {
		return after, nil
	}
	return configedit.Remove(host.format, after, around)
}

// Registration is an entry for this program in a configuration file.
type Registration struct {
	Host  string
	Scope Scope
	Path  string
	// Command is the program and its arguments, and Env what is added to its
	// environment, as NAME=value, sorted.
	Command []string
	Env     []string
	// Disabled says that the host has been told not to start the server.
	Disabled bool
	// Err says why the file, or the entry, cannot be read.
	Err error
}

// Registrations finds where a host knows this program, in each of its scopes. A
// file that is not there is no registration; one that cannot be read is, with
// its error.
func Registrations(host Host, opts Options) []Registration {
	var list []Registration
	for _, scope := range host.Scopes {
		opts.Scope = scope
		place, err := host.place(opts)
		if err != nil {
			continue // there is no such file on this system
		}
		r := Registration{Host: host.Name, Scope: place.scope, Path: place.path}
		if host.format == 0 {
			if registeredJP(place, &r) {
				list = append(list, r)
			}
			continue
		}
		current, err := readFile(place.path)
		if err == nil && !current.exists {
			continue
		}
		var path []string
		if err == nil {
			path, err = host.entryPath(current.data)
		}
		var entry map[string]any
		ok := false
		if err == nil {
			entry, ok, err = configedit.Get(host.format, current.data, path)
		}
		switch {
		case err != nil:
			r.Err = err
		case !ok:
			continue
		default:
			r.read(entry)
		}
		list = append(list, r)
	}
	return list
}

// read takes an entry apart. Hosts write the same things under a few names.
func (r *Registration) read(entry map[string]any) {
	switch command := entry["command"].(type) {
	case string:
		r.Command = append([]string{command}, stringsOf(entry["args"])...)
	case []any:
		r.Command = stringsOf(command)
	}
	if len(r.Command) == 0 {
		r.Err = errors.New("the entry has no command")
	}
	for _, key := range []string{"env", "environment"} {
		table, _ := entry[key].(map[string]any)
		for name, value := range table {
			if text, ok := value.(string); ok {
				r.Env = append(r.Env, name+"="+text)
			}
		}
	}
	slices.Sort(r.Env)
	r.Disabled = entry["enabled"] == false || entry["disabled"] == true
}

func stringsOf(value any) []string {
	list, _ := value.([]any)
	var out []string
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil
		}
		out = append(out, text)
	}
	return out
}

// place is where a host is registered with.
type place struct {
	scope Scope
	path  string
	// ownDirs are directories that exist for this file alone, the innermost
	// first.
	ownDirs []string
}

func (h Host) place(opts Options) (place, error) {
	p := place{scope: opts.Scope}
	if p.scope == "" {
		p.scope = h.Scopes[0]
	}
	if !slices.Contains(h.Scopes, p.scope) {
		var names []string
		for _, s := range h.Scopes {
			names = append(names, string(s))
		}
		return place{}, fmt.Errorf("%s cannot be registered with for scope %q, only for: %s", h.Title, p.scope, strings.Join(names, ", "))
	}
	candidates, err := h.paths(p.scope, opts)
	if err != nil {
		return place{}, err
	}
	p.path = candidates[0]
	for _, path := range candidates {
		if exists(path) {
			p.path = path
			break
		}
	}
	if dir := filepath.Dir(p.path); p.scope == Project && dir != opts.Project {
		p.ownDirs = []string{dir}
	}
	return p, nil
}

// Written reports whether a registration starts the program as [PlanInstall] has
// it started: to serve the tools, and nothing else.
func Written(r Registration) bool {
	args := r.Command[1:]
	if r.Host == "jp" {
		want, err := process.SplitCommand(jpfiles.Command)
		return err == nil && slices.Equal(args, want[1:])
	}
	return slices.Equal(args, []string{"mcp"}) ||
		len(args) == 3 && args[0] == "mcp" && args[1] == "--workspace" && !strings.HasPrefix(args[2], "-")
}
