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

// formatFiles formats tools.toml and its specs, or the given files, and prints the names of files that it changed. With
// -check it only prints the names of files that are not formatted, and returns an error if there is one. It reports a
// file that cannot be formatted, goes on with the next file, and returns an error at the end.
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
	var result error
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
		if notFormatted := changed && *check; err != nil || notFormatted {
			result = errReported
		}
	}
	return result
}

// formatFile reports whether formatting changes a file. It writes the formatted file unless check is set.
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
