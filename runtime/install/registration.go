package install

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/convtools/convtools/runtime/configedit"
)

// Registration is an entry for this program in a configuration file.
type Registration struct {
	Host  string
	Scope Scope
	Path  string
	// Command is the program with its arguments. Env are added environment variables, as NAME=value, sorted.
	Command []string
	Env     []string
	// URL is the address of the server, without secrets, for an entry that starts no command.
	URL string
	// Disabled reports whether the host is set not to start the server.
	Disabled bool
	// Err is the error of reading the file or the entry.
	Err error
	// Doubtful reports whether Err hides whether there is an entry, and nothing suggests that there is one.
	Doubtful bool

	byEnabled bool // it is Disabled by "enabled" and not by "disabled"
}

// SwitchOn returns the step that enables a Disabled entry, without a full stop.
func (r Registration) SwitchOn() string {
	if r.byEnabled {
		return "set enabled to true in the entry, in " + r.Path
	}
	return "set disabled to false in the entry, in " + r.Path
}

// Registrations returns the entries for this program in a host's files, by scope. A file that cannot be read is a
// registration with its error.
func Registrations(host Host, opts Options) []Registration {
	var list []Registration
	for _, scope := range host.Scopes {
		at, err := host.path(scope, opts)
		if err != nil {
			continue // this system has no such file
		}
		r := Registration{Host: host.Name, Scope: scope, Path: at}
		if host.format == 0 {
			if registeredJP(&r, opts.JPFiles) {
				list = append(list, r)
			}
			continue
		}
		current, err := readFile(at)
		if err == nil && !current.exists {
			continue
		}
		var path []string
		if err == nil {
			path, err = host.entryPath(current.data, opts)
		}
		var entry map[string]any
		ok := false
		if err == nil {
			entry, ok, err = configedit.Get(host.format, current.data, path)
		}
		switch {
		case err != nil:
			r.Err = err
			r.Doubtful = !bytes.Contains(current.data, []byte(opts.Name))
		case !ok:
			continue
		default:
			r.read(entry)
		}
		list = append(list, r)
	}
	return list
}

// read fills in the registration from an entry. Hosts have several names for the same keys.
func (r *Registration) read(entry map[string]any) {
	r.Command = commandOf(entry)
	switch command := entry["command"]; {
	case len(r.Command) > 0:
	case command != nil:
		r.Err = fmt.Errorf("command of the entry is %v, which is not text", command)
	default:
		if r.URL = urlOf(entry); r.URL == "" {
			r.Err = errors.New("the entry has no command")
		}
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
	r.byEnabled = entry["enabled"] == false
	r.Disabled = r.byEnabled || entry["disabled"] == true
}

// urlOf returns the address in an entry for a server on the network, without passwords and tokens; or "".
func urlOf(entry map[string]any) string {
	for _, key := range []string{"url", "serverUrl", "httpUrl"} {
		text, _ := entry[key].(string)
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
		}
	}
	return ""
}

// commandOf returns the command of an entry. It writes values that are not text as text, so that they are seen.
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
