// Package plantest makes projects with any number of tools, to measure the time and memory of generating. It is for
// tests only.
package plantest

import (
	_ "embed"
	"fmt"
	"strings"
	"testing/fstest"
)

//go:embed tools.toml
var project string

//go:embed tool.toml
var tool string

// toolsInFamily is the number of tools in a folder, which is also a Go package.
const toolsInFamily = 25

// Project returns a project with the given number of tools, for all targets. Each tool has parameters of every plain
// type, constraints, defaults, a rule, a command line, an envelope, an example, and text that names it.
func Project(tools int) fstest.MapFS {
	files := fstest.MapFS{"tools.toml": {Data: []byte(project)}}
	for i := range tools {
		family := fmt.Sprintf("family%d", i/toolsInFamily)
		name := fmt.Sprintf("tool%d", i%toolsInFamily)
		text := strings.NewReplacer("FAMILY", family, "TOOL", family+"_"+name).Replace(tool)
		files["specs/"+family+"/"+name+".toml"] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}
