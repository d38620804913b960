package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/install/internal/configedit"
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
	// files returns where the configuration can be, the file to make first.
	files func(Options) ([]string, error)
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

// binding is how a server is told of the project it works for.
type binding int

const (
	// byDirectory: the host starts servers in the project's directory.
	byDirectory binding = iota
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
	return []Host{claudeCode(), claudeDesktop(), codex(), cursor(), jp(), opencode(), vscode(), zed()}
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

// claudeCode is Anthropic's command line agent. It starts servers in the
// directory it was started in, and asks once before it starts those of a project.
// https://code.claude.com/docs/en/mcp: project scope in .mcp.json at the root,
// user scope in ~/.claude.json, both with the servers under "mcpServers" as
// {"type": "stdio", "command", "args", "env"}. CLAUDE_CONFIG_DIR moves the latter.
func claudeCode() Host {
	return Host{
		Name: "claude-code", Title: "Claude Code", Scopes: []Scope{User, Project},
		format: configedit.JSON, table: []string{"mcpServers"}, shape: typedShape,
		user: site{
			files:  movedBy("CLAUDE_CONFIG_DIR", ".claude.json", inHome(".claude.json")),
			advice: []string{"Sessions that are running do not know it yet. claude mcp list shows whether it is connected."},
		},
		project: site{
			files:  inProject(".mcp.json"),
			advice: []string{"Claude Code asks once whether to use the servers of this project.", "claude mcp list shows whether it is connected."},
		},
	}
}

// claudeDesktop is Anthropic's desktop application. It starts servers outside of
// any project, and reads nothing but plain JSON.
// https://modelcontextprotocol.io/docs/develop/connect-local-servers:
// claude_desktop_config.json in ~/Library/Application Support/Claude or
// %APPDATA%\Claude, servers under "mcpServers" as {"command", "args", "env"}.
func claudeDesktop() Host {
	return Host{
		Name: "claude-desktop", Title: "Claude Desktop", Scopes: []Scope{User},
		format: configedit.JSON, table: []string{"mcpServers"}, shape: plainShape,
		user: site{
			files: inAppData("Claude", "claude_desktop_config.json"), binding: byPath,
			advice: []string{"Quit Claude Desktop and start it again; closing its window is not enough."},
		},
	}
}

// codex is OpenAI's agent. Its command line starts servers in the session's
// directory; its desktop application may start them in the root directory
// (https://github.com/openai/codex/issues/16390).
// https://developers.openai.com/codex/mcp: [mcp_servers.NAME] with command and
// args in ~/.codex/config.toml, or in .codex/config.toml of a project that is
// trusted. CODEX_HOME moves the former. A server gets HOME, PATH and a few like them of
// the environment, and what "env_vars" names.
func codex() Host {
	return Host{
		Name: "codex", Title: "Codex", Scopes: []Scope{User, Project},
		format: configedit.TOML, table: []string{"mcp_servers"}, shape: plainShape, forward: "env_vars",
		user: site{
			files:  movedBy("CODEX_HOME", "config.toml", inHome(".codex", "config.toml")),
			advice: []string{"codex mcp list shows the server. The desktop application may start servers outside of the project; if it does, install again with --workspace DIR."},
		},
		project: site{
			files:  inProject(".codex", "config.toml"),
			advice: []string{"Codex reads this file only when the project is trusted.", "codex mcp list shows the server."},
		},
	}
}

// cursor is the Cursor editor. It starts servers of the user's file in the home
// directory, ignores "cwd", and replaces ${workspaceFolder} in arguments.
// https://cursor.com/docs/mcp: .cursor/mcp.json in the project or the home
// directory, servers under "mcpServers" as {"command", "args", "env"}.
func cursor() Host {
	advice := []string{"Switch the server on in Cursor's list of MCP servers."}
	return Host{
		Name: "cursor", Title: "Cursor", Scopes: []Scope{User, Project},
		format: configedit.JSONC, table: []string{"mcpServers"}, shape: plainShape,
		user:    site{inHome(".cursor", "mcp.json"), byVariable, advice},
		project: site{inProject(".cursor", "mcp.json"), byVariable, advice},
	}
}

// opencode is the opencode agent. It starts servers in the project's directory.
// https://opencode.ai/docs/mcp-servers and https://opencode.ai/docs/config:
// opencode.json or opencode.jsonc in the project or in ~/.config/opencode, on
// every system, servers under "mcp" as {"type": "local", "command": […],
// "enabled"}. Version 2 puts them under "mcp.servers", without "enabled", and
// still reads the old form (https://opencode.ai/docs/migrate-v1); the new form is
// written only where a file has it.
func opencode() Host {
	advice := []string{"opencode mcp list shows whether it is connected."}
	names := []string{"opencode.json", "opencode.jsonc"}
	return Host{
		Name: "opencode", Title: "opencode", Scopes: []Scope{User, Project},
		format: configedit.JSONC, table: []string{"mcp"}, shape: listShape,
		user: site{func(o Options) ([]string, error) {
			config, err := xdgConfig(o)
			return []string{filepath.Join(config, "opencode", names[0]), filepath.Join(config, "opencode", names[1])}, err
		}, byDirectory, advice},
		project: site{func(o Options) ([]string, error) {
			return []string{filepath.Join(o.Project, names[0]), filepath.Join(o.Project, names[1])}, nil
		}, byDirectory, advice},
	}
}

// vscode is Visual Studio Code. It starts servers of a project's file in the
// project and those of the user's in the home directory, where ${workspaceFolder}
// need not have a value.
// https://code.visualstudio.com/docs/copilot/reference/mcp-configuration:
// .vscode/mcp.json or mcp.json in the user's profile, servers under "servers" as
// {"type": "stdio", "command", "args", "env"}.
func vscode() Host {
	advice := []string{"Start the server in VS Code: MCP: List Servers in the command palette."}
	return Host{
		Name: "vscode", Title: "VS Code", Scopes: []Scope{Project, User},
		format: configedit.JSONC, table: []string{"servers"}, shape: typedShape,
		user:    site{inAppData("Code", "User", "mcp.json"), byPath, advice},
		project: site{inProject(".vscode", "mcp.json"), byVariable, advice},
	}
}

// zed is the Zed editor. It starts servers in the project's directory (since
// https://github.com/zed-industries/zed/pull/61365 also those that were started
// before a project was open).
// https://zed.dev/docs/ai/mcp: "context_servers" in settings.json as {"command",
// "args", "env"}; https://zed.dev/docs/configuring-zed: the file is in
// ~/.config/zed, %APPDATA%\Zed, or .zed of the project.
func zed() Host {
	advice := []string{"The dot beside the server in Zed's agent settings turns green when it runs."}
	return Host{
		Name: "zed", Title: "Zed", Scopes: []Scope{User, Project},
		format: configedit.JSONC, table: []string{"context_servers"}, shape: plainShape,
		user: site{func(o Options) ([]string, error) {
			switch o.GOOS {
			case "windows":
				return inAppData("Zed", "settings.json")(o)
			case "darwin":
				return inHome(".config", "zed", "settings.json")(o)
			}
			config, err := xdgConfig(o)
			return []string{filepath.Join(config, "zed", "settings.json")}, err
		}, byDirectory, advice},
		project: site{inProject(".zed", "settings.json"), byDirectory, advice},
	}
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

func inHome(elem ...string) func(Options) ([]string, error) {
	return func(o Options) ([]string, error) {
		dir, err := home(o)
		return []string{filepath.Join(dir, filepath.Join(elem...))}, err
	}
}

func inProject(elem ...string) func(Options) ([]string, error) {
	return func(o Options) ([]string, error) {
		return []string{filepath.Join(o.Project, filepath.Join(elem...))}, nil
	}
}

// movedBy is a file that is in the directory a variable of the environment names,
// where it names one.
func movedBy(variable, name string, otherwise func(Options) ([]string, error)) func(Options) ([]string, error) {
	return func(o Options) ([]string, error) {
		if dir := o.Getenv(variable); filepath.IsAbs(dir) {
			return []string{filepath.Join(dir, name)}, nil
		}
		return otherwise(o)
	}
}

// xdgConfig returns the directory for configuration of programs that follow the
// XDG Base Directory Specification.
func xdgConfig(o Options) (string, error) {
	if dir := o.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	dir, err := home(o)
	return filepath.Join(dir, ".config"), err
}

// inAppData is a file where Electron applications keep what belongs to a user,
// https://www.electronjs.org/docs/latest/api/app#appgetpathname.
func inAppData(elem ...string) func(Options) ([]string, error) {
	return func(o Options) ([]string, error) {
		switch o.GOOS {
		case "windows":
			return movedBy("APPDATA", filepath.Join(elem...), inHome("AppData", "Roaming", filepath.Join(elem...)))(o)
		case "darwin":
			return inHome("Library", "Application Support", filepath.Join(elem...))(o)
		}
		config, err := xdgConfig(o)
		return []string{filepath.Join(config, filepath.Join(elem...))}, err
	}
}
