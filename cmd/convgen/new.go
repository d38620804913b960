package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/plan"
	"github.com/convtools/convtools/gen/spec"
)

// newSpec writes the first version of a spec and prints the name of its file. The spec is valid, so the generated files
// can be read before the spec is edited.
func newSpec(args []string, stdout, _ io.Writer) error {
	flags, dir := flagsOf("new")
	handler := flags.Bool("go", false, "")
	help := flags.String("from-help", "", "")
	err := flags.Parse(args)
	tool, others := flags.Arg(0), 0     // others is the number of arguments after the name and its flags
	if err == nil && flags.NArg() > 1 { // flags may follow the name
		err = flags.Parse(flags.Args()[1:])
		others = flags.NArg()
	}
	bothForms := *handler && *help != ""
	if err != nil || tool == "" || others > 0 || bothForms {
		return misuse{"it takes the name of one tool, and --go or --from-help 'PROGRAM WORDS'", "such as convgen new note_add, or note.add for a name with a dot"}
	}
	d := draft{tool: tool, handler: *handler}
	if *help != "" {
		if err := d.readHelp(*help); err != nil {
			return err
		}
	}
	name, err := writeSpec(*dir, d)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, name)
	return err
}

// writeSpec writes a spec, declares its command line in tools.toml unless it is declared, and returns the name of the
// spec's file. If the spec has an error, it removes the spec and restores tools.toml.
func writeSpec(dir string, d draft) (string, error) {
	tool := d.tool
	family, short, ok := strings.Cut(strings.Replace(tool, ".", "_", 1), "_")
	if !ok || short == "" {
		return "", fmt.Errorf("%q is not the name of a tool of a family: write note_add or note.add", tool)
	}
	root, err := openProject(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	before, err := root.ReadFile(spec.ProjectFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no %s in %s\nhint: convgen init writes one", spec.ProjectFile, dir)
	case err != nil:
		return "", fmt.Errorf("reading %s: %w", spec.ProjectFile, err)
	}
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
	line := d.lineName(family)
	declared := slices.ContainsFunc(project.CLIs, func(c spec.CLI) bool { return c.Name == line })
	if !d.handler && !declared {
		after := strings.TrimRight(string(before), "\n") + "\n\n" + d.declaration(line)
		if err := writeFile(root, spec.ProjectFile, after); err != nil {
			return "", err
		}
	}
	if err := writeFile(root, name, d.text(line, short)); err != nil {
		return "", err
	}
	result, err := plan.Generate(root.FS())
	if err != nil {
		return "", err
	}
	for _, d := range result.Diags {
		if d.File == name {
			restoreErr := errors.Join(root.Remove(name), writeFile(root, spec.ProjectFile, string(before)))
			_ = root.Remove(path.Dir(name)) // the folder may have been created for the spec; Remove fails if it is not empty
			return "", errors.Join(fmt.Errorf("a tool cannot have that name: %s", d.Message), restoreErr)
		}
	}
	return name, nil
}
