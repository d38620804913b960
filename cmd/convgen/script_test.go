package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what convgen prints into the scripts' golden files")

func TestMain(m *testing.M) {
	if os.Getenv("CONVGEN_MAIN") == "1" {
		main()
	}
	testscript.Main(m, map[string]func(){"convgen": main, "exit": exitCode})
}

func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"age":   age,
			"aged":  aged,
			"crlf":  crlf,
			"write": write,
		},
	})
}
