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

	format configedit.Format // 0 for JP, which has files of its own
	// table is the path of the entries.
	table []string
	// shape is the form of an entry.
	shape shape
	// forward is the key for the names of the environment variables that a server gets; empty for a host that passes
	// all.
	forward       string
	user, project site
}

// site is the configuration of a host for one scope.
type site struct {
	// files are the patterns of the paths of the configuration, the one to create first; see [expand].
	files []string
	// elsewhere is files by operating system, for systems with other paths.
	elsewhere map[string][]string
	// hooks is the pattern of the path of the file with hooks; empty for a host without a start hook.
	hooks string
	// movedBy is the environment variable that moves the files to another directory.
	movedBy string
	// binding is the way in which the server finds the project; see [Host.server].
	binding binding
	// advice are the steps left for the user.
	advice []string
}

func (h Host) site(scope Scope) site {
	if scope == Project {
		return h.project
	}
	return h.user
}

// Unattended returns the option with which the host calls the tools when nobody can be asked. It is empty for a host
// that needs none or does not run like that.
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
	_ binding = iota // the host starts servers in the project's directory
	// byVariable: the host starts servers elsewhere and replaces ${workspaceFolder} in their arguments.
	byVariable
	// byPath: the host knows no projects; the path is in its file.
	byPath
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
	hosts := Hosts()
	i := slices.IndexFunc(hosts, func(h Host) bool { return h.Name == name })
	if i < 0 {
		return Host{}, false
	}
	return hosts[i], true
}

// candidates returns the possible paths of the configuration.
func (s site) candidates(o Options) ([]string, error) {
	files := s.files
	if other, ok := s.elsewhere[o.GOOS]; ok {
		files = other
	}
	var paths []string
	for _, file := range files {
		if dir := o.Getenv(s.movedBy); s.movedBy != "" && filepath.IsAbs(dir) {
			paths = append(paths, filepath.Join(dir, path.Base(file)))
			continue
		}
		at, err := expand(file, o)
		if err != nil {
			return nil, err
		}
		paths = append(paths, at)
	}
	return paths, nil
}

// expand returns the path of a pattern. A pattern begins with {project}, or with ~, the home directory; with {config}
// or {state}, as in the XDG Base Directory Specification; or with {appdata}, the directory of Electron applications,
// https://www.electronjs.org/docs/latest/api/app#appgetpathname.
func expand(pattern string, o Options) (string, error) {
	begin, rest, _ := strings.Cut(pattern, "/")
	var variable, inHome string
	switch on := begin + " " + o.GOOS; {
	case begin == "{project}":
		return filepath.Join(o.Project, filepath.FromSlash(rest)), nil
	case on == "{appdata} windows":
		variable, inHome = "APPDATA", "AppData/Roaming"
	case on == "{state} windows":
		variable, inHome = "LOCALAPPDATA", "AppData/Local"
	case on == "{appdata} darwin", on == "{state} darwin":
		inHome = "Library/Application Support"
	case begin == "{state}":
		variable, inHome = "XDG_STATE_HOME", ".local/state"
	case begin != "~":
		variable, inHome = "XDG_CONFIG_HOME", ".config"
	}
	if dir := o.Getenv(variable); variable != "" && filepath.IsAbs(dir) {
		return filepath.Join(dir, filepath.FromSlash(rest)), nil
	}
	dir, err := home(o)
	return filepath.Join(dir, filepath.FromSlash(inHome), filepath.FromSlash(rest)), err
}

// home returns the user's home directory. A relative path is an error: it would lead to another place from every
// directory.
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

// server is the command that a host runs.
type server struct {
	command string
	args    []string
}

// server returns the command with which a host starts this program. A file that people share has the program's name;
// a user's own file has its path, because applications started from a desktop often have a shorter PATH than a shell.
func (h Host) server(scope Scope, o Options) (server, error) {
	s := server{command: o.Program, args: []string{"mcp"}}
	if scope == Project && o.ProgramName != "" {
		s.command = o.ProgramName
	}
	switch bound := h.site(scope).binding; {
	case bound == byPath && o.Workspace == "":
		return server{}, errNoWorkspace
	case bound == byPath, scope == User && o.Bind:
		s.args = append(s.args, "--workspace", o.Workspace)
	case bound == byVariable:
		s.args = append(s.args, "--workspace", "${workspaceFolder}")
	}
	s.args = append(s.args, o.Settings...)
	return s, nil
}

// entryPath returns the path of the entry in a document.
func (h Host) entryPath(src []byte, o Options) ([]string, error) {
	path := slices.Concat(h.table, []string{o.entry()})
	if h.shape != listShape {
		return path, nil
	}
	nested := slices.Concat(h.table, []string{"servers"})
	ok, err := configedit.Has(h.format, src, nested)
	if err != nil || !ok {
		return path, err
	}
	servers, ok, err := configedit.Get(h.format, src, nested)
	if err != nil || !ok {
		return path, err
	}
	// In the old form this is a server with that name.
	if _, text := servers["type"].(string); text {
		return path, nil
	}
	return append(nested, o.entry()), nil
}

// entry returns the members of a server's entry in the host's shape.
func (h Host) entry(path []string, s server) []configedit.Member {
	command := configedit.Member{Key: "command", Value: s.command}
	args := configedit.Member{Key: "args", Value: s.args}
	switch h.shape {
	case typedShape:
		return []configedit.Member{{Key: "type", Value: "stdio"}, command, args}
	case listShape:
		command.Value = append([]string{s.command}, s.args...)
		members := []configedit.Member{{Key: "type", Value: "local"}, command}
		if len(path) == len(h.table)+1 {
			members = append(members, configedit.Member{Key: "enabled", Value: true})
		}
		return members
	}
	return []configedit.Member{command, args}
}

// forwarded returns the member that lists the environment variables which are set and which the host would not pass.
// Variables that the entry lists already stay.
func (h Host) forwarded(entry map[string]any, o Options) []configedit.Member {
	if h.forward == "" {
		return nil
	}
	names, ok := forwardedBy(entry[h.forward])
	if !ok {
		return nil // it is not a list of names, and stays
	}
	there := len(names)
	for _, name := range o.Variables {
		if o.Getenv(name) != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == there {
		return nil
	}
	return []configedit.Member{{Key: h.forward, Value: names}}
}

// forwardedBy returns the names in a list. It reports false for a value that is no list of names.
func forwardedBy(value any) (names []string, ok bool) {
	list, isList := value.([]any)
	for _, item := range list {
		name, isText := item.(string)
		if !isText {
			return nil, false
		}
		names = append(names, name)
	}
	return names, isList || value == nil
}

// startsThis reports whether an entry starts this program, at this path or another path with its name, as install
// does.
func (h Host) startsThis(entry map[string]any, o Options) bool {
	r := Registration{Host: h.Name}
	r.read(entry)
	if _, ok := r.Settings(o); !ok || r.Err != nil {
		return false
	}
	return o.isNamed(r.Command[0])
}

// isNamed reports whether a command is this program, at this path or another path with its name.
func (o Options) isNamed(command string) bool {
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	return command == o.Program || strings.EqualFold(strings.TrimSuffix(strings.ToLower(name), ".exe"), o.Name)
}

// startsCommand reports whether an entry starts a command and may be edited. Another entry, such as a server on the
// network, would have both.
func startsCommand(entry map[string]any) bool {
	_, ok := entry["command"]
	return ok
}
