// Package plantest makes projects of any number of tools, to measure how long
// generating takes and how much memory. It is never part of a program.
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

// toolsInFamily is how many tools share a folder, and so a Go package.
const toolsInFamily = 25

// Project returns a project with so many tools, for all targets. Each has parameters
// of every plain type, with constraints, defaults and a rule, a command line, an
// envelope and an example, and text that names it.
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
