package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/targets"
	"github.com/convtools/convtools/gen/lower"
)

// Definition is what a target has of a tool, which a model pays for with every request.
type Definition struct {
	Tool, Target string
	Bytes        int // without white space between values of JSON
}

// Definitions returns the definitions in the files of a project, by tools and then by
// targets. Targets that have none of single tools, such as docs, are left out.
func (r *Result) Definitions() ([]Definition, error) {
	files := map[string][]byte{}
	for _, file := range r.Files {
		files[file.Path] = file.Data
	}
	var all []Definition
	listed := map[string]map[string]int{} // by target and by what it calls a tool
	for _, target := range made(r) {
		if target.List == "" {
			continue
		}
		sizes := map[string]int{}
		if err := measure(files[path.Join(r.Contract.Targets.Generated, target.List)], "", sizes); err != nil {
			return nil, fmt.Errorf("reading the tool list of %s: %w", target.Name, err)
		}
		listed[target.Name] = sizes
	}
	for _, tool := range r.Contract.Tools() {
		for _, target := range made(r) {
			size := 0
			switch {
			case target.List != "":
				group, name := lower.Name(*target.Lower, tool)
				size = listed[target.Name][path.Join(group, name)]
			case target.One != nil:
				size = length(files[target.One(r.Contract, tool)])
			}
			if size > 0 {
				all = append(all, Definition{tool.Name, target.Name, size})
			}
		}
	}
	return all, nil
}

// made returns the targets of a project that tools are put to.
func made(r *Result) []emit.Target {
	var list []emit.Target
	for _, target := range targets.All() {
		if target.Lower != nil && r.Contract.Targets.Makes(target.Name) {
			list = append(list, target)
		}
	}
	return list
}

// measure notes the sizes of the tools in a list, also of those in groups.
func measure(list []byte, group string, sizes map[string]int) error {
	var entries []json.RawMessage
	if err := json.Unmarshal(list, &entries); err != nil {
		return err
	}
	for _, entry := range entries {
		var tool struct {
			Name     string
			Function struct{ Name string }
			Tools    json.RawMessage
		}
		if err := json.Unmarshal(entry, &tool); err != nil {
			return err
		}
		if tool.Tools != nil {
			if err := measure(tool.Tools, tool.Name, sizes); err != nil {
				return err
			}
			continue
		}
		sizes[path.Join(group, tool.Name+tool.Function.Name)] = length(entry)
	}
	return nil
}

// length is how long a definition is: one in JSON without its white space.
func length(definition []byte) int {
	var b bytes.Buffer
	if json.Compact(&b, definition) != nil {
		return len(definition)
	}
	return b.Len()
}
