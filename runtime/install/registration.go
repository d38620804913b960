package install

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/generated/jpfiles"
	"github.com/convtools/convtools/runtime/install/internal/configedit"
	"github.com/convtools/convtools/runtime/process"
)

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
	r.Command = commandOf(entry)
	if len(r.Command) == 0 {
		r.Err = errors.New("the entry has no command")
	}
	for _, key := range []string{"command", "args"} {
		list, _ := entry[key].([]any)
		for i, item := range list {
			if _, ok := item.(string); !ok {
				r.Err = fmt.Errorf("%s[%d] of the entry is %v, which is not text", key, i, item)
			}
		}
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

// commandOf returns what an entry starts. What is not text in it is written as
// text, so that it is seen.
func commandOf(entry map[string]any) []string {
	switch command := entry["command"].(type) {
	case string:
		return append([]string{command}, wordsOf(entry["args"])...)
	default:
		return wordsOf(command)
	}
}

func wordsOf(value any) []string {
	if list, ok := value.([]string); ok {
		return list
	}
	list, _ := value.([]any)
	var words []string
	for _, item := range list {
		words = append(words, fmt.Sprint(item))
	}
	return words
}

// Written reports whether a registration starts the program as [PlanInstall] has
// it started: to serve the tools, and nothing else.
func Written(r Registration) bool {
	if r.Err != nil || len(r.Command) == 0 {
		return false
	}
	args := r.Command[1:]
	if r.Host == "jp" {
		want, err := process.SplitCommand(jpfiles.Command)
		return err == nil && slices.Equal(args, want[1:])
	}
	return slices.Equal(args, []string{"mcp"}) ||
		len(args) == 3 && args[0] == "mcp" && args[1] == "--workspace" && !strings.HasPrefix(args[2], "-")
}
