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
	// Command is the program with its arguments. Env are the environment variables of the entry, as NAME=value, sorted.
	Command []string
	Env     []string
	URL     string // the address of the server, without secrets, for an entry that starts no command

	Disabled  bool  // the entry tells the host not to start the server
	byEnabled bool  // Disabled because "enabled" is false
	Err       error // of reading the file or the entry
	Doubtful  bool  // Err hides whether there is an entry, and the file does not have the name of this program
}

// SwitchOn returns the step that enables a Disabled entry, without a full stop.
func (r Registration) SwitchOn() string {
	if r.byEnabled {
		return "set enabled to true in the entry, in " + r.Path
	}
	return "set disabled to false in the entry, in " + r.Path
}

// Registrations returns the entries for this program in a host's files, in the order of the host's scopes. A file or an
// entry that cannot be read is a registration with an error.
func Registrations(host Host, opts Options) []Registration {
	var list []Registration
	for _, scope := range host.Scopes {
		path, err := host.path(scope, opts)
		if err != nil {
			continue // this system has no such file
		}
		r := Registration{Host: host.Name, Scope: scope, Path: path}
		if host.isJP() {
			if r.setFromJP(opts.JPFiles) {
				list = append(list, r)
			}
			continue
		}
		file, err := host.readEntry(path, opts)
		switch {
		case err != nil:
			r.Err = err
			r.Doubtful = !bytes.Contains(file.data, []byte(opts.Name)) // without the name, there is probably no entry
		case !file.hasEntry:
			continue
		default:
			r.setFrom(file.entry)
		}
		list = append(list, r)
	}
	return list
}

// entryFile is a configuration file with this program's entry.
type entryFile struct {
	snapshot
	entryPath []string       // the path of the entry in the file, also of a missing entry
	entry     map[string]any // nil for a missing entry
	hasEntry  bool
}

// readEntry reads a configuration file and this program's entry in the file. A missing file or entry is no error. After
// an error, the result has entryPath and no entry.
func (h Host) readEntry(path string, o Options) (entryFile, error) {
	current, err := readFile(path)
	file := entryFile{snapshot: current}
	var pathErr error
	file.entryPath, pathErr = h.entryPath(file.data, o)
	if err = errors.Join(err, pathErr); err == nil {
		file.entry, file.hasEntry, err = configedit.Get(h.format, file.data, file.entryPath)
	}
	return file, err
}

// setFrom sets Command, Env, URL and Disabled from an entry; hosts have several names for the same keys. It sets Err if
// a word of the command is not text, or if the entry has no command and no address of a server.
func (r *Registration) setFrom(entry map[string]any) {
	r.Command = commandOf(entry)
	switch command := entry["command"]; {
	case len(r.Command) > 0: // the loop below checks the types of its words
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
	r.byEnabled = entry["enabled"] == false // some hosts have this key, others have "disabled"
	r.Disabled = r.byEnabled || entry["disabled"] == true
}

// urlOf returns the address in an entry for a server on the network, without user, password and query, which may be
// secrets. It returns "" if there is no address.
func urlOf(entry map[string]any) string {
	for _, key := range []string{"url", "serverUrl", "httpUrl"} {
		text, _ := entry[key].(string)
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
		}
	}
	return ""
}

// commandOf returns the program and the arguments of an entry. An argument that is not text is there as fmt prints it,
// so that people see it. A program that is not text is nil.
func commandOf(entry map[string]any) []string {
	if program, ok := entry["command"].(string); ok {
		return append([]string{program}, wordsOf(entry["args"])...)
	}
	return wordsOf(entry["command"]) // a list of the program and its arguments
}

// wordsOf returns the items of a list as text. It returns nil for another value.
func wordsOf(value any) []string {
	list, _ := value.([]any)
	var words []string
	for _, item := range list {
		words = append(words, fmt.Sprint(item))
	}
	return words
}
