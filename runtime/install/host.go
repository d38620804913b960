package install

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/configedit"
)

// Host is a program in which this one can be registered.
type Host struct {
	Name   string  // on the command line: "claude-code"
	Title  string  // for people: "Claude Code"
	Scopes []Scope // its scopes, the default first

	format  configedit.Format // 0 for JP, which has files of its own
	table   []string          // the path of the table in a configuration file that has the entries of all servers
	shape   shape             // the form of an entry
	forward string            // the key for the names of the environment variables that a server gets; empty if it gets all

	user, project site
}

// site is the place of a host's configuration for one scope.
type site struct {
	files     []string            // patterns for the path of the configuration file, see [expand]; the first is for a new file
	elsewhere map[string][]string // the patterns for operating systems with other paths than files, by GOOS
	hooks     string              // the pattern for the path of the file with hooks; empty for a host without a start hook
	movedBy   string              // the environment variable with the directory that has files instead; empty for none
	binding   binding             // the way in which the server gets the path of its project, see [Host.command]
	advice    []string            // sentences about the steps that are left for the user
}

// isJP reports whether the host is JP, which has files of its own instead of one configuration file.
func (h Host) isJP() bool { return h.format == 0 }

func (h Host) site(scope Scope) site {
	if scope == Project {
		return h.project
	}
	return h.user
}

// Unattended returns a sentence about the option with which the host calls the tools when nobody can be asked. It is
// empty for a host that needs no such option, or that always has a person to ask.
func (h Host) Unattended(o Options) string {
	switch h.Name {
	case "claude-code":
		return "claude -p asks nobody: give it --allowedTools mcp__" + o.entry() + "."
	case "codex":
		return "codex exec asks nobody: put default_tools_approval_mode = \"approve\" below [mcp_servers." + o.entry() + "]."
	}
	return ""
}

// binding is the way in which a server gets the path of its project.
type binding int

const (
	_          binding = iota // the host starts servers in the project's directory
	byVariable                // the host starts servers elsewhere and replaces ${workspaceFolder} in their arguments
	byPath                    // the host knows no projects; the path is in its file
)

// shape is the form of a server's entry.
type shape int

const (
	plainShape shape = iota // "command" and "args"
	typedShape              // also "type": "stdio"
	listShape               // "type": "local", and program and arguments in a list "command"
)

// Hosts returns all hosts, sorted by name.
func Hosts() []Host {
	cursorAdvice := []string{"Switch the server on in Cursor's list of MCP servers."}
	opencodeAdvice := []string{"opencode mcp list shows whether it is connected."}
	vscodeAdvice := []string{"Start the server in VS Code: MCP: List Servers in the command palette."}
	zedAdvice := []string{"The dot beside the server in Zed's agent settings turns green when it runs."}
	return []Host{{
		// Anthropic's command line agent starts servers in the directory it was started in, and
		// asks once before it starts those of a project. https://code.claude.com/docs/en/mcp
		Name: "claude-code", Title: "Claude Code", Scopes: []Scope{User, Project},
		format: configedit.JSON, table: []string{"mcpServers"}, shape: typedShape,
		user: site{
			files: []string{"~/.claude.json"}, hooks: "~/.claude/settings.json", movedBy: "CLAUDE_CONFIG_DIR",
			advice: []string{"Sessions that are running do not know it yet. claude mcp list shows whether it is connected."},
		},
		project: site{
			files:  []string{"{project}/.mcp.json"},
			hooks:  "{project}/.claude/settings.json",
			advice: []string{"Claude Code asks once whether to use the servers of this project.", "claude mcp list shows whether it is connected."},
		},
	}, {
		// Anthropic's desktop application starts servers outside of any project, and reads plain JSON only.
		// https://modelcontextprotocol.io/docs/develop/connect-local-servers
		Name: "claude-desktop", Title: "Claude Desktop", Scopes: []Scope{User},
		format: configedit.JSON, table: []string{"mcpServers"},
		user: site{
			files: []string{"{appdata}/Claude/claude_desktop_config.json"}, binding: byPath,
			advice: []string{"Quit Claude Desktop and start it again; closing its window is not enough."},
		},
	}, {
		// OpenAI's agent starts servers in the session's directory; its desktop application may start them in the
		// root directory (https://github.com/openai/codex/issues/16390). A server gets HOME, PATH and a few other
		// variables, and the variables in "env_vars". https://developers.openai.com/codex/mcp
		Name: "codex", Title: "Codex", Scopes: []Scope{User, Project},
		format: configedit.TOML, table: []string{"mcp_servers"}, forward: "env_vars",
		user: site{
			files: []string{"~/.codex/config.toml"}, movedBy: "CODEX_HOME",
			advice: []string{"codex mcp list shows the server. The desktop application may start servers outside of the project; if it does, install again with --workspace DIR."},
		},
		project: site{
			files:  []string{"{project}/.codex/config.toml"},
			advice: []string{"Codex reads this file only when the project is trusted.", "codex mcp list shows the server."},
		},
	}, {
		// The Cursor editor starts servers of the user's file in the home directory, ignores "cwd",
		// and replaces ${workspaceFolder} in arguments. https://cursor.com/docs/mcp
		Name: "cursor", Title: "Cursor", Scopes: []Scope{User, Project},
		format: configedit.JSONC, table: []string{"mcpServers"},
		user:    site{files: []string{"~/.cursor/mcp.json"}, binding: byVariable, advice: cursorAdvice},
		project: site{files: []string{"{project}/.cursor/mcp.json"}, binding: byVariable, advice: cursorAdvice},
	}, {
		Name: "jp", Title: "JP", Scopes: []Scope{Project}, // see [Change.installJP]
		project: site{files: []string{"{project}/.jp"}},
	}, {
		// The opencode agent starts servers in the project's directory. Version 2 has them under "mcp.servers",
		// without "enabled", and still reads the old form; this program writes the new form only if a file has it.
		// https://opencode.ai/docs/mcp-servers, https://opencode.ai/docs/migrate-v1
		Name: "opencode", Title: "opencode", Scopes: []Scope{User, Project},
		format: configedit.JSONC, table: []string{"mcp"}, shape: listShape,
		user:    site{files: []string{"{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"}, advice: opencodeAdvice},
		project: site{files: []string{"{project}/opencode.json", "{project}/opencode.jsonc"}, advice: opencodeAdvice},
	}, {
		// Visual Studio Code starts servers of a project's file in the project and those of the user's file in the
		// home directory, where ${workspaceFolder} may have no value.
		// https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
		Name: "vscode", Title: "VS Code", Scopes: []Scope{Project, User},
		format: configedit.JSONC, table: []string{"servers"}, shape: typedShape,
		user:    site{files: []string{"{appdata}/Code/User/mcp.json"}, binding: byPath, advice: vscodeAdvice},
		project: site{files: []string{"{project}/.vscode/mcp.json"}, binding: byVariable, advice: vscodeAdvice},
	}, {
		// The Zed editor starts servers in the project's directory. https://zed.dev/docs/ai/mcp,
		// https://zed.dev/docs/configuring-zed
		Name: "zed", Title: "Zed", Scopes: []Scope{User, Project},
		format: configedit.JSONC, table: []string{"context_servers"},
		user: site{
			files:     []string{"{config}/zed/settings.json"},
			elsewhere: map[string][]string{"windows": {"{appdata}/Zed/settings.json"}, "darwin": {"~/.config/zed/settings.json"}},
			advice:    zedAdvice,
		},
		project: site{files: []string{"{project}/.zed/settings.json"}, advice: zedAdvice},
	}}
}

// Lookup returns the host with a name.
func Lookup(name string) (Host, bool) {
	for _, h := range Hosts() {
		if h.Name == name {
			return h, true
		}
	}
	return Host{}, false
}

// candidates returns the possible paths of the configuration file, the first of which is for a new file. They are in the
// directory that the environment variable s.movedBy has, if any. The error is that the home directory is not known.
func (s site) candidates(o Options) ([]string, error) {
	patterns := s.files
	if ofSystem, ok := s.elsewhere[o.GOOS]; ok {
		patterns = ofSystem
	}
	var paths []string
	for _, pattern := range patterns {
		if dir := o.Getenv(s.movedBy); s.movedBy != "" && filepath.IsAbs(dir) {
			paths = append(paths, filepath.Join(dir, path.Base(pattern)))
			continue
		}
		expanded, err := expand(pattern, o)
		if err != nil {
			return nil, err
		}
		paths = append(paths, expanded)
	}
	return paths, nil
}

// expand returns the path of a pattern. The pattern begins with {project}, the project's directory; ~, the home
// directory; {config} or {state}, as in the XDG Base Directory Specification; or {appdata}, the directory of Electron
// applications, https://www.electronjs.org/docs/latest/api/app#appgetpathname. The error is that of [home].
func expand(pattern string, o Options) (string, error) {
	begin, rest, _ := strings.Cut(pattern, "/")
	// The directory is the value of variable if that is an absolute path, otherwise inHome in the home directory.
	var variable, inHome string
	switch beginAndOS := begin + " " + o.GOOS; {
	case begin == "{project}":
		return filepath.Join(o.Project, filepath.FromSlash(rest)), nil
	case beginAndOS == "{appdata} windows":
		variable, inHome = "APPDATA", "AppData/Roaming"
	case beginAndOS == "{state} windows":
		variable, inHome = "LOCALAPPDATA", "AppData/Local"
	case beginAndOS == "{appdata} darwin", beginAndOS == "{state} darwin":
		inHome = "Library/Application Support"
	case begin == "{state}": // on another system
		variable, inHome = "XDG_STATE_HOME", ".local/state"
	case begin == "{config}", begin == "{appdata}": // {appdata} on another system
		variable, inHome = "XDG_CONFIG_HOME", ".config"
	}
	if dir := o.Getenv(variable); variable != "" && filepath.IsAbs(dir) {
		return filepath.Join(dir, filepath.FromSlash(rest)), nil
	}
	dir, err := home(o)
	return filepath.Join(dir, filepath.FromSlash(inHome), filepath.FromSlash(rest)), err
}

// home returns the user's home directory. The error is that the environment does not have it, or has a relative path:
// that would lead to another place from every directory.
func home(o Options) (string, error) {
	name := "HOME"
	if o.GOOS == "windows" {
		name = "USERPROFILE"
	}
	dir := o.Getenv(name)
	switch {
	case dir == "":
		return "", fmt.Errorf("the home directory is not known: %s is not set", name)
	case !filepath.IsAbs(dir):
		return "", fmt.Errorf("the home directory is not known: %s is %q, which is not an absolute path", name, dir)
	}
	return dir, nil
}

// command returns the program and the arguments with which a host starts the server. The error is errNoWorkspace.
func (h Host) command(scope Scope, o Options) ([]string, error) {
	command := []string{o.programIn(scope), "mcp"}
	binding := h.site(scope).binding
	hasPath := binding == byPath || scope == User && o.Bind
	switch {
	case binding == byPath && o.Workspace == "":
		return nil, errNoWorkspace
	case hasPath:
		command = append(command, "--workspace", o.Workspace)
	case binding == byVariable:
		command = append(command, "--workspace", "${workspaceFolder}")
	}
	return append(command, o.Settings...), nil
}

// programIn returns the command that starts this program, for the configuration file of a scope. In a file of a project,
// which people share, it is the program's name if PATH leads to it. Otherwise it is the program's path, because
// applications started from a desktop often have a shorter PATH than a shell.
func (o Options) programIn(scope Scope) string {
	if scope == Project && o.ProgramName != "" { // ProgramName is the name in PATH
		return o.ProgramName
	}
	return o.Program
}

// entryPath returns the path of this program's entry in a document, whether it is there or not. In a document of
// opencode it depends on whether the document has the form of version 2. With an error the path is for the old form.
func (h Host) entryPath(src []byte, o Options) ([]string, error) {
	path := slices.Concat(h.table, []string{o.entry()})
	if h.shape != listShape {
		return path, nil
	}
	nested := slices.Concat(h.table, []string{"servers"})
	servers, ok, err := configedit.Get(h.format, src, nested)
	if err != nil || !ok {
		return path, err
	}
	if _, isText := servers["type"].(string); isText {
		return path, nil // the old form: "servers" is the name of a server
	}
	return append(nested, o.entry()), nil
}

// entry returns the members of the entry at path, in the host's shape, for a server with the given command.
func (h Host) entry(path, command []string) []configedit.Member {
	if h.shape == listShape {
		members := []configedit.Member{{Key: "type", Value: "local"}, {Key: "command", Value: command}}
		if len(path) == len(h.table)+1 { // the old form of opencode, without "servers" between the table and the entry
			members = append(members, configedit.Member{Key: "enabled", Value: true})
		}
		return members
	}
	members := []configedit.Member{{Key: "command", Value: command[0]}, {Key: "args", Value: command[1:]}}
	if h.shape == typedShape {
		return slices.Insert(members, 0, configedit.Member{Key: "type", Value: "stdio"})
	}
	return members
}

// forwarded returns the member of this program's entry that lists the environment variables which the host passes to
// the server. The list has the names in the existing entry, and the names of this program's variables that are set.
// entry is the existing entry, or nil. forwarded returns nil if no member has to be set: the host passes all variables,
// the entry lists all names already, or the entry has a value that is no list of names.
func (h Host) forwarded(entry map[string]any, o Options) []configedit.Member {
	if h.forward == "" {
		return nil
	}
	value := entry[h.forward]
	list, isList := value.([]any)
	if !isList && value != nil {
		return nil
	}
	var names []string
	for _, item := range list {
		name, isText := item.(string)
		if !isText {
			return nil
		}
		names = append(names, name)
	}
	for _, name := range o.Variables {
		if o.Getenv(name) != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == len(list) {
		return nil
	}
	return []configedit.Member{{Key: h.forward, Value: names}}
}

// startsThis reports whether an entry starts this program to serve the tools, as an entry by install does. The program
// is at o.Program or any path that ends in its name.
func (h Host) startsThis(entry map[string]any, o Options) bool {
	r := Registration{Host: h.Name}
	r.setFrom(entry)
	_, ok := r.Settings(o)
	return ok && r.Err == nil && o.isNamed(r.Command[0])
}

// isNamed reports whether a command is o.Program, or any path that ends in the name of this program.
func (o Options) isNamed(command string) bool {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	return command == o.Program || strings.EqualFold(strings.TrimSuffix(strings.ToLower(name), ".exe"), o.Name)
}
