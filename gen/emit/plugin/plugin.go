// Package plugin emits one folder that is a plugin of Claude Code and Codex, an extension of Gemini CLI and the source
// of a bundle for Claude Desktop: the MCP server, and a skill that says when to use its tools. Beside it, in the root
// of the project, it emits the list of plugins that Claude Code and Codex install it from.
//
// The server is a program in PATH, and in a bundle the file beside the manifest.
package plugin

import (
	"path"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/ir"
)

// Target returns the target plugin.
func Target() emit.Target { return emit.Target{Name: "plugin", Settings: true, Emit: Emit} }

// marketplace is the file in which Claude Code and Codex look for a project's plugins.
const marketplace = ".claude-plugin/marketplace.json"

// Emit returns the list of plugins and the files of the plugin. Their formats are those of https://code.claude.com/docs/en/plugins-reference,
// https://geminicli.com/docs/extensions/reference and https://github.com/modelcontextprotocol/mcpb.
func Emit(c *ir.Contract, _ emit.Schemas) ([]emit.File, error) {
	p := c.Targets.Plugin
	name := c.Targets.Program()
	owner := jsontext.New("name", name)
	servers := jsontext.New(name, jsontext.New("command", name, "args", []string{"mcp"}))
	about := jsontext.New("name", name, "version", p.Version, "description", p.Summary)
	inDir := func(file string, data []byte) emit.File { return emit.File{Path: path.Join(p.Dir, file), Data: data} }
	return []emit.File{
		{Path: marketplace, Data: jsontext.Pretty(jsontext.New("name", name, "owner", owner, "plugins", []any{
			jsontext.New("name", name, "description", p.Summary, "source", "./"+p.Dir),
		}))},
		inDir(".claude-plugin/plugin.json", jsontext.Pretty(about.With("author", owner))),
		inDir(".mcp.json", jsontext.Pretty(jsontext.New("mcpServers", servers))),
		inDir("gemini-extension.json", jsontext.Pretty(about.With("mcpServers", servers))),
		inDir("manifest.json", jsontext.Pretty(bundle(c, about, owner))),
		inDir("skills/"+p.Skill+"/SKILL.md", skill(p)),
	}, nil
}

// bundle returns the manifest of a bundle for Claude Desktop. The manifest has the members of about, and its author is
// owner. Claude Desktop knows no projects, so the manifest makes it ask for a directory.
func bundle(c *ir.Contract, about, owner jsontext.Object) jsontext.Object {
	name := c.Targets.Program()
	program := "${__dirname}/" + name
	run := jsontext.New("command", program, "args", []string{"mcp", "--workspace", "${user_config.workspace}"},
		"platform_overrides", jsontext.New("win32", jsontext.New("command", program+".exe")))
	tools := []any{}
	for _, tool := range c.Tools() {
		tools = append(tools, jsontext.New("name", tool.Name, "description", tool.Summary))
	}
	return append(jsontext.New("manifest_version", "0.3"), about...).With(
		"author", owner,
		"server", jsontext.New("type", "binary", "entry_point", name, "mcp_config", run),
		"tools", tools, "tools_generated", true,
		"user_config", jsontext.New("workspace", jsontext.New("type", "directory", "title", "Project",
			"description", "The project whose conversations and knowledge the tools read", "required", true)),
	)
}

// skill returns a skill in the form of https://agentskills.io/specification.
func skill(p *ir.Plugin) []byte {
	return []byte("---\nname: " + p.Skill + "\ndescription: " + ir.JSON(p.When) + "\n---\n\n" + p.Content + "\n")
}
