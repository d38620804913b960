package main

import (
	"cmp"
	"encoding/json"
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
command line in use, and every host this program is registered with. What is
registered is started the way the host starts it, and has to list its tools in
time. Every problem comes with its fix; the exit code is 1 when there is one.`,
		Example: `  convtools doctor
  convtools doctor --workspace ~/src/project
  convtools doctor --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts, _ := a.installOptions() // what is wrong with the workspace is in the report
			report := doctor.Examine(cmd.Context(), doctor.Config{
				Version: version, Install: opts, Dir: a.workspace,
				CLI: a.programs(), Runner: process.Exec{}, Now: time.Now,
			})
			var err error
			if asJSON {
				enc := json.NewEncoder(a.stdout)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				err = enc.Encode(report)
			} else {
				err = report.Text(a.stdout, cmp.Or(a.getenv("HOME"), a.getenv("USERPROFILE")))
			}
			if err == nil && report.Problems > 0 {
				err = &reported{exitFailed}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}
