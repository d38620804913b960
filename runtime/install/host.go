package install

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/configedit"
)

// Host is a program that this one can be registered with.
type Host struct {
	Name   string  // as on the command line: "claude-code"
	Title  string  // as people say it: "Claude Code"
	Scopes []Scope // the scopes it knows, its default first

	format configedit.Format // 0 for JP, which gets files of its own
	// table is what entries stand under.
	table []string
	// shape writes an entry.
	shape shape
	// forward is the key under which an entry names the variables of the environment
	// that a server gets; empty for a host that passes on all.
	forward       string
	user, project site
}

// site is what a host has for one scope.
type site struct {
	// files is where the configuration can be, the file to make first; see [expand].
	files []string
	// elsewhere is files on the systems that have them in another place.
	elsewhere map[string][]string
	// movedBy is the variable of the environment that moves the file to another directory.
	movedBy string
	// binding is how the server finds the project; see [Host.server].
	binding binding
	// advice is what is left to do.
	advice []string
}

func (h Host) site(scope Scope) site {
	if scope == Project {
		return h.project
	}
	return h.user
}

// Unattended says what the host needs to call the tools when nobody can be asked; it is empty
// for a host that does not run like that, or that needs nothing.
func (h Host) Unattended(o Options) string {
	switch h.Name {
	case "claude-code":
		return "claude -p asks nobody: give it --allowedTools mcp__" + o.entry() + "."
	case "codex":
		return "codex exec asks nobody: put default_tools_approval_mode = \"approve\" below [mcp_servers." + o.entry() + "]."
	}
	return ""
}

// binding is how a server is told of the project it works for.
type binding int

const (
	_ binding = iota // the host starts servers in the project's directory
	// byVariable: the host starts servers elsewhere, but replaces
	// ${workspaceFolder} in their arguments.
	byVariable
	// byPath: the host knows nothing of projects; the path is in its file.
	byPath
)

// shape is how a host writes a server's entry.
type shape int

const (
	plainShape shape = iota // "command" and "args"
	typedShape              // the same with "type": "stdio"
	listShape               // "type": "local", and everything in a list "command"
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
			files: []string{"~/.claude.json"}, movedBy: "CLAUDE_CONFIG_DIR",
			advice: []string{"Sessions that are running do not know it yet. claude mcp list shows whether it is connected."},
		},
		project: site{
			files:  []string{"{project}/.mcp.json"},
			advice: []string{"Claude Code asks once whether to use the servers of this project.", "claude mcp list shows whether it is connected."},
		},
	}, {
		// Anthropic's desktop application starts servers outside of any project, and reads
		// nothing but plain JSON. https://modelcontextprotocol.io/docs/develop/connect-local-servers
		Name: "claude-desktop", Title: "Claude Desktop", Scopes: []Scope{User},
		format: configedit.JSON, table: []string{"mcpServers"},
		user: site{
			files: []string{"{appdata}/Claude/claude_desktop_config.json"}, binding: byPath,
			advice: []string{"Quit Claude Desktop and start it again; closing its window is not enough."},
		},
	}, {
		// OpenAI's agent starts servers in the session's directory; its desktop application may
		// start them in the root directory (https://github.com/openai/codex/issues/16390). A server
		// gets HOME, PATH and a few like them of the environment, and those that "env_vars" names.
		// https://developers.openai.com/codex/mcp
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
		// The opencode agent starts servers in the project's directory. Version 2 has them under
		// "mcp.servers", without "enabled", and still reads the old form; the new form is written
		// only where a file has it. https://opencode.ai/docs/mcp-servers,
		// https://opencode.ai/docs/migrate-v1
		Name: "opencode", Title: "opencode", Scopes: []Scope{User, Project},
		format: configedit.JSONC, table: []string{"mcp"}, shape: listShape,
		user:    site{files: []string{"{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"}, advice: opencodeAdvice},
		project: site{files: []string{"{project}/opencode.json", "{project}/opencode.jsonc"}, advice: opencodeAdvice},
	}, {
		// Visual Studio Code starts servers of a project's file in the project and those of the
		// user's in the home directory, where ${workspaceFolder} need not have a value.
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

// Lookup returns the host of that name.
func Lookup(name string) (Host, bool) {
	hosts := Hosts()
	i := slices.IndexFunc(hosts, func(h Host) bool { return h.Name == name })
	if i < 0 {
		return Host{}, false
	}
	return hosts[i], true
}

// candidates returns the paths where the configuration can be.
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

// expand returns the path that a pattern stands for. It begins with {project}, or with ~,
// the home directory; with {config} or {state}, as in the XDG Base Directory Specification;
// or with {appdata}, where Electron applications have their configuration,
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

// home returns the user's home directory. A relative path would lead to another
// place from every directory.
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

// server is what a host is told to run.
type server struct {
	command string
	args    []string
}

// server decides how a host starts this program. In a file that people share the
// program is named as everybody finds it; in a user's own its path is written
// out, because applications started from a desktop often have a shorter PATH than
// a shell.
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

// entryPath returns where the entry stands, or has to, in a document.
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
	// In the old form this is a server that happens to have that name.
	if _, text := servers["type"].(string); text {
		return path, nil
	}
	return append(nested, o.entry()), nil
}

// entry writes a server down in the host's shape.
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

// forwarded returns what an entry is to have, beside members, of the variables of the
// environment that are set and that the host keeps from servers otherwise: those that it
// names already stay.
func (h Host) forwarded(entry map[string]any, o Options) []configedit.Member {
	if h.forward == "" {
		return nil
	}
	names, ok := forwardedBy(entry[h.forward])
	if !ok {
		return nil // somebody has written what is no list of names
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

// forwardedBy returns the names in a list, and false where it has anything else.
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

// startsThis reports whether an entry starts this program, at this path or at another
// one with its name, as install has it started.
func (h Host) startsThis(entry map[string]any, o Options) bool {
	r := Registration{Host: h.Name}
	r.read(entry)
	if _, ok := r.Settings(o); !ok || r.Err != nil {
		return false
	}
	command := r.Command[0]
	name := command[strings.LastIndexAny(command, `/\`)+1:]
	return command == o.Program || strings.EqualFold(strings.TrimSuffix(strings.ToLower(name), ".exe"), o.Name)
}

// startsCommand reports whether an entry may be edited: one that is something
// else, such as a server on the network, would become one of two minds.
func startsCommand(entry map[string]any) bool {
	_, ok := entry["command"]
	return ok
}
