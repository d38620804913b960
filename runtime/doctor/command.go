package doctor

import (
	"cmp"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// Command returns the command doctor.
func Command(host *toolset.Host, registry *toolset.Registry) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works and what does not",
		Long: `Says what works and what does not: what the tools depend on, and every host
this program is registered with. What is registered is started the way the host
starts it, and has to list its tools in time; what a project's own files name is
started only if it is this program. Every problem and warning comes with its
fix. The exit code is 1 when there is a problem.`,
		Example: cli.Examples(host.Name, "doctor", "doctor --workspace ~/src/project", "doctor --json"),
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts, _ := install.NewOptions(host, registry) // the checks of families report problems with the project
			report := Examine(cmd.Context(), Config{
				Version: host.Version, Registry: registry, Install: opts, Dir: host.Dir,
				Runner: process.Exec{}, Connect: Connect, LookPath: exec.LookPath, Now: host.Now,
			})
			var err error
			if asJSON {
				err = cli.PrintJSON(host.Stdout, host.Terminal, report)
			} else {
				err = report.Text(host.Stdout, cmp.Or(host.Getenv("HOME"), host.Getenv("USERPROFILE")))
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
