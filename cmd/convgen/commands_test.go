package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// longAgo returns a time before any script ran.
func longAgo() time.Time { return time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC) }

// age sets an old modification time on every file below the given folders.
func age(ts *testscript.TestScript, _ bool, dirs []string) {
	for _, dir := range dirs {
		eachFile(ts, dir, func(name string, _ fs.FileInfo) {
			ts.Check(os.Chtimes(name, longAgo(), longAgo()))
		})
	}
}

// aged fails if a file below the given folders was written since [age]. With !, it fails if none was.
func aged(ts *testscript.TestScript, neg bool, dirs []string) {
	written := 0
	for _, dir := range dirs {
		eachFile(ts, dir, func(name string, info fs.FileInfo) {
			if !info.ModTime().Equal(longAgo()) {
				ts.Logf("%s was written", name)
				written++
			}
		})
	}
	if neg != (written > 0) {
		ts.Fatalf("%d files were written", written)
	}
}

// eachFile calls do with every file below a folder, and fails if there is none.
func eachFile(ts *testscript.TestScript, dir string, do func(string, fs.FileInfo)) {
	files := 0
	err := filepath.WalkDir(ts.MkAbs(dir), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			files++
			do(name, info)
		}
		return err
	})
	ts.Check(err)
	if files == 0 {
		ts.Fatalf("there is no file in %s", dir)
	}
}

// write writes a file with one line.
func write(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: write FILE LINE")
	}
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
	ts.Check(os.WriteFile(name, []byte(args[1]+"\n"), 0o644))
}

// exitCode is the program exit of the scripts, with the arguments CODE COMMAND ARGS…. It runs the command, prints its
// output, and succeeds if the command ends with that exit code.
func exitCode() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != os.Args[1] {
		fmt.Fprintf(os.Stderr, "exit code %s, not %s: %v\n", got, os.Args[1], err)
		os.Exit(1)
	}
}

// crlf converts the line endings of files to those of Windows.
func crlf(ts *testscript.TestScript, _ bool, names []string) {
	for _, name := range names {
		text := ts.ReadFile(name)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(strings.ReplaceAll(text, "\n", "\r\n")), 0o644))
	}
}
