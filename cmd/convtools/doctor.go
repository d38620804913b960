package main

import (
	"cmp"
	"encoding/json"
	"github.com/convtools/convtools/runtime/cli"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/doctor"
	"github.com/convtools/convtools/runtime/process"
)

func (a *app) doctorCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works and what does not",
		Long: `Says what works and what does not: the workspace and its conversations, the
command line in use, the knowledge base, the cache, and every host this program
is registered with. What is registered is started the way the host starts it,
and has to list its tools in time; what a project's own files name is started
only if it is this program. Every problem and warning comes with its fix. The
exit code is 1 when there is a problem.`,
		Example: `  convtools doctor
  convtools doctor --workspace ~/src/project
  convtools doctor --json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts, _ := a.installOptions() // what is wrong with the workspace is in the report
			report := doctor.Examine(cmd.Context(), doctor.Config{
				Version: version, Install: opts, Dir: a.located(a.host.Dir),
				CacheDir: cacheDir(), CLI: a.programs(), Runner: process.Exec{}, LookPath: exec.LookPath, Now: time.Now,
			})
			var err error
			if asJSON {
				enc := json.NewEncoder(a.host.Stdout)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				err = enc.Encode(report)
			} else {
				err = report.Text(a.host.Stdout, cmp.Or(a.host.Getenv("HOME"), a.host.Getenv("USERPROFILE")))
			}
			if err == nil && report.Problems > 0 {
				err = cli.ErrFailed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

// cacheDir is where this program would keep what it can make again; empty where
// the user has no place for that.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "convtools")
}
