package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/convtools/convtools/gen/plan"
	"github.com/convtools/convtools/gen/spec"
)

// newSpec writes a spec to begin with. It is right as it stands, so that what is
// generated from it can be looked at before anything is changed.
func newSpec(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("new", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("C", ".", "")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		fmt.Fprintf(stderr, "convgen new: it takes the name of one tool\nhint: such as convgen new note_add, or note.add for a name with a dot\n")
		return exitUsage
	}
	name, err := writeSpec(*dir, flags.Arg(0))
	if err != nil {
		fmt.Fprintf(stderr, "convgen new: %v\n", err)
		return exitWrong
	}
	fmt.Fprintln(stdout, name)
	return exitOK
}

// writeSpec returns the file it wrote. Where the project has no place for the tool, no
// file stays behind.
func writeSpec(dir, tool string) (string, error) {
	family, short, ok := strings.Cut(strings.Replace(tool, ".", "_", 1), "_")
	if !ok || short == "" {
		return "", fmt.Errorf("%q is not the name of a tool of a family: write note_add or note.add", tool)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("opening the project: %w", err)
	}
	defer root.Close()
	project, _ := spec.Load(root.FS())
	name := path.Join("specs", family, short+".toml")
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("%q cannot name a file", name)
	}
	if !project.Reads(name) {
		return "", fmt.Errorf("%s names no specs such as %s", spec.ProjectFile, name)
	}
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is there already", name)
	}
	if err := writeNew(root, name, fmt.Sprintf(template, tool)); err != nil {
		return "", err
	}
	result, err := plan.Generate(root.FS())
	if err != nil {
		return "", err
	}
	for _, d := range result.Diags {
		if d.File == name {
			removed := root.Remove(name)
			_ = root.Remove(path.Dir(name)) // a folder with nothing else in it was made for the spec
			return "", errors.Join(fmt.Errorf("a tool cannot have that name: %s", d.Message), removed)
		}
	}
	return name, nil
}

// template is a spec with what most tools need. It takes the name.
const template = `# What the tool is to a model, and how it works. Every key: convgen schema reference.
name    = %q
summary = "Say in one line what the tool does, without a full stop"
effect  = "write" # read, where it changes nothing
handler = "go"    # a method of the generated Handler; leave it out for a [command]
answer  = "text"  # or json with a [result], or an [envelope]
description = """
Say what the tool does, when to use it, and what it returns. A model reads this before each call.
"""

[parameters.text]
type       = "string" # integer, number, boolean, array, object
required   = true
max_length = 2000
summary    = "Say in one line what the parameter is"

[parameters.limit]
type    = "integer"
default = 20
minimum = 1
maximum = 100
repairs = ["from_string", "clamp"] # what is put right in a call, and told
summary = "Most results to return"

[[examples]]
summary   = "Say what this call is for"
arguments = { text = "a text", limit = 5 }
`
