package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/convtools/convtools/gen/format"
	"github.com/convtools/convtools/gen/spec"
)

// formatFiles formats tools.toml and its specs, or the given files. With -check it only prints the names of files
// that are not formatted.
func formatFiles(args []string, stdout, stderr io.Writer) error {
	flags, dir := flagsOf("fmt")
	check := flags.Bool("check", false, "")
	if err := parse(flags, args, math.MaxInt); err != nil {
		return err
	}
	root, err := openProject(*dir)
	if err != nil {
		return err
	}
	defer root.Close()
	names := flags.Args()
	if len(names) == 0 {
		project, _ := spec.Load(root.FS()) // mistakes in specs do not matter here
		for _, file := range project.Sources {
			names = append(names, file.Name)
		}
	}
	var wrong error
	for _, name := range names {
		changed, err := formatFile(root, name, *check)
		switch {
		case errors.Is(err, format.ErrSyntax):
			fmt.Fprintf(stderr, "convgen fmt: %s: %v; convgen generate says where\n", name, err)
		case err != nil:
			fmt.Fprintf(stderr, "convgen fmt: %s: %v\n", name, err)
		case changed:
			fmt.Fprintln(stdout, name)
		}
		if err != nil || changed && *check {
			wrong = errReported
		}
	}
	return wrong
}

// formatFile formats a file, unless check is set, and reports whether it was not formatted.
func formatFile(root *os.Root, name string, check bool) (changed bool, err error) {
	before, err := root.ReadFile(name)
	if err != nil {
		return false, err
	}
	after, err := format.TOML(before)
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	if check {
		return true, nil
	}
	return true, writeFile(root, name, string(after))
}
