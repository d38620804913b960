// Package toollist emits all tools of a contract as one JSON array, for hosts that take a list of tool definitions.
// The hosts differ in the form of an entry and in their limits.
package toollist

import (
	"fmt"
	"path"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
	"github.com/convtools/convtools/runtime/contract"
)

// MCP returns the target for the Model Context Protocol, in the form of a tools/list answer. An API that gets a name from
// a client accepts 64 characters, and the client puts a prefix with the server's name before it, so names have less.
// Claude Code silently cuts a description at 2048 characters.
func MCP() emit.Target {
	return target("mcp/tools.json", lower.Target{Name: "mcp", Schema: true, Dots: true, MaxName: 64 - len("mcp__convtools__"), MaxDescription: 2048},
		func(tool *ir.Tool, text *lower.Text, schema jsontext.Object) jsontext.Object {
			entry := jsontext.New("name", text.Name, "title", tool.Title(), "description", text.Description, "inputSchema", schema)
			if tool.Keywords != "" {
				entry = entry.With("_meta", jsontext.New(contract.SearchHint, tool.Keywords))
			}
			switch {
			case tool.Effect == ir.Write: // clients assume the worst if a hint is missing
				return entry
			case tool.OpenWorld:
				return entry.With("annotations", jsontext.New("readOnlyHint", true, "idempotentHint", true))
			}
			return entry.With("annotations", jsontext.New("readOnlyHint", true, "idempotentHint", true, "openWorldHint", false))
		})
}

// OpenAI returns the target for OpenAI's Chat Completions API, which many other providers accept too. The API accepts
// names of 64 characters and descriptions of 1024, and refuses the whole request if one is longer.
func OpenAI() emit.Target {
	return target("openai/functions.json", lower.Target{Name: "openai", Schema: true, MaxName: 64, MaxDescription: 1024},
		func(_ *ir.Tool, text *lower.Text, schema jsontext.Object) jsontext.Object {
			return jsontext.New("type", "function", "function",
				jsontext.New("name", text.Name, "description", text.Description, "parameters", schema))
		})
}

// Anthropic returns the target for Anthropic's Messages API, which accepts names of 64 characters.
func Anthropic() emit.Target {
	return target("anthropic/tools.json", lower.Target{Name: "anthropic", Schema: true, MaxName: 64},
		func(_ *ir.Tool, text *lower.Text, schema jsontext.Object) jsontext.Object {
			return jsontext.New("name", text.Name, "description", text.Description, "input_schema", schema)
		})
}

// Responses returns the target for OpenAI's Responses API, with the limits of its Chat Completions API. A tool with a
// dot in its name goes into a namespace: conv.create is create in conv.
func Responses() emit.Target {
	return target("responses/tools.json", lower.Target{Name: "responses", Schema: true, Groups: true, MaxName: 64, MaxDescription: 1024},
		func(_ *ir.Tool, text *lower.Text, schema jsontext.Object) jsontext.Object {
			return jsontext.New("type", "function", "name", text.Name, "description", text.Description, "parameters", schema)
		})
}

// entryFunc returns the entry of a tool in a list, with the given text and schema.
type entryFunc func(tool *ir.Tool, text *lower.Text, schema jsontext.Object) jsontext.Object

// target returns a target whose only file lists all tools. The path of the file is relative to the output folder.
func target(file string, to lower.Target, entry entryFunc) emit.Target {
	define := func(_ *ir.Contract, tool *ir.Tool, schemas emit.Schemas) []byte {
		text := lower.Brief(to, tool)
		return []byte(ir.JSON(entry(tool, &text, schemas(tool))))
	}
	emitList := func(c *ir.Contract, schemas emit.Schemas) ([]emit.File, error) {
		list, err := entries(to, entry, c.Tools(), schemas)
		return []emit.File{{Path: path.Join(c.Targets.Generated, file), Data: jsontext.Pretty(list)}}, err
	}
	return emit.Target{Name: to.Name, Lower: &to, List: file, Define: define, Emit: emitList}
}

// entries returns the list of tools. If the target has groups, each group is one entry, which contains the entries of
// its tools. entries returns an error if the target would refuse a tool.
func entries(to lower.Target, entry entryFunc, tools []*ir.Tool, schemas emit.Schemas) ([]any, error) {
	list := []any{}
	indexes, groups := map[string]int{}, map[string][]any{} // by group: its index in list, and the entries of its tools
	for _, tool := range tools {
		text := lower.Brief(to, tool)
		if len(text.Problems) > 0 {
			return nil, fmt.Errorf("tool list of %s: %s", to.Name, text.Problems[0].Text) // convgen check reports all
		}
		definition := entry(tool, &text, schemas(tool))
		if text.Group == "" {
			list = append(list, definition)
			continue
		}
		groups[text.Group] = append(groups[text.Group], definition)
		namespace := jsontext.New("type", "namespace", "name", text.Group, "description", "The tools whose names begin with "+text.Group+".", "tools", groups[text.Group])
		if index, exists := indexes[text.Group]; exists {
			list[index] = namespace // with one more tool
		} else {
			indexes[text.Group] = len(list)
			list = append(list, namespace)
		}
	}
	return list, nil
}
