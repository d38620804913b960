package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/runtime/base/safefile"
)

// project has the files of a new project. They contain MODULE for the path of the module, PROGRAM for the name of the
// program, and VARIABLE for the prefix of its environment variables.
//
//go:embed project
var project embed.FS

// initProject writes a project that works at once: tools.toml, a tool that lists commits and, in a Go module, a main.
func initProject(args []string, stdout, stderr io.Writer) error {
	flags, dir := flagsOf("init")
	if err := parse(flags, args, 0); err != nil {
		return err
	}
	program, err := writeProject(*dir, stdout)
	if err != nil {
		return err
	}
	if program == "" {
		fmt.Fprintf(stderr, "next:\n  convgen try\n  convgen call git_log limit=3   # in a repository with commits\n  convgen install claude-code\n")
		return nil
	}
	if err := generate([]string{"-C", *dir}, stdout, stderr); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "next:\n  go get -tool github.com/convtools/convtools/cmd/convgen && go mod tidy\n  go install . && %s install claude-code\n  %s call git_log limit=3   # in a repository with commits\n", program, program)
	return nil
}

// writeProject writes the files of a new project, prints their names to stdout, and returns the name of the program,
// which is "" outside a Go module. If one of the files exists, it writes nothing and returns an error.
func writeProject(dir string, stdout io.Writer) (string, error) {
	root, err := openProject(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	module, err := modulePath(root)
	if err != nil {
		return "", err
	}
	program := ""
	if module != "" {
		program = (&ir.Targets{Module: module}).Program()
		if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`).MatchString(program) {
			return "", fmt.Errorf("%q is no name for a program: end the module's path in letters, digits and hyphens, as in example.com/gittools", program)
		}
	}
	files, err := projectFiles(module != "", strings.NewReplacer(
		"MODULE", module, "PROGRAM", program, "VARIABLE", strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(program)),
	))
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if _, err := root.Lstat(f.name); !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s is there already: init is for a module without tools, and convgen new adds a tool", f.name)
		}
	}
	for _, f := range files {
		if err := writeFile(root, f.name, f.text); err != nil {
			return "", err
		}
		fmt.Fprintln(stdout, f.name)
	}
	return program, nil
}

// projectFile is a file of a new project.
type projectFile struct{ name, text string }

// projectFiles returns the files for a Go module or, if module is false, for a folder whose specs are served without
// Go. A module gets main.go and tools.toml; such a folder gets served.toml, under the name tools.toml. fill replaces
// the words that stand for names, such as MODULE.
func projectFiles(module bool, fill *strings.Replacer) ([]projectFile, error) {
	omitted := []string{"tools.toml", "main.go.txt"}
	if module {
		omitted = []string{"served.toml"}
	}
	var files []projectFile
	err := fs.WalkDir(project, "project", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || slices.Contains(omitted, path.Base(name)) {
			return err
		}
		text, err := project.ReadFile(name)
		target := strings.TrimSuffix(strings.TrimPrefix(name, "project/"), ".txt")
		if target == "served.toml" {
			target = "tools.toml"
		}
		files = append(files, projectFile{target, fill.Replace(string(text))})
		return err
	})
	return files, err
}

// modulePath returns the path of the module in go.mod, or "" if there is no go.mod. The grammar is at
// https://go.dev/ref/mod#go-mod-file-module.
func modulePath(root *os.Root) (string, error) {
	data, err := root.ReadFile("go.mod")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading go.mod: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "//")
		if words := strings.Fields(line); len(words) == 2 && words[0] == "module" {
			return strings.Trim(words[1], "\"`"), nil
		}
	}
	return "", errors.New("go.mod names no module")
}

// writeFile writes a file of a project so that it is never partly written, and makes the folders above it.
func writeFile(root *os.Root, name, text string) error {
	staged := "" // the name of a temporary file
	err := root.MkdirAll(path.Dir(name), 0o755)
	if err == nil {
		staged, err = safefile.Stage(root, name, []byte(text), 0o644)
	}
	if err == nil {
		err = root.Rename(staged, name)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
