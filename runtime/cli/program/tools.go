package program

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

func (p *CommandLine) toolsCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "tools", Short: "List the tools", Args: cli.NoArgs,
		Long: `Lists the tools that assistants get in this workspace, what calling each does,
and what it is for. Some are there only where they can be of use, such as those
that need a model that is configured.`,
		Example: cli.Examples(p.Host.Name, "tools", "tools --json"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			tools := p.Registry.Offered(cmd.Context())
			if asJSON {
				return p.printToolsJSON(tools)
			}
			w := tabwriter.NewWriter(p.Host.Stdout, 0, 0, 2, ' ', 0)
			for _, tool := range tools {
				fmt.Fprintf(w, "%s\t%s\t%s\n", tool.Name, tool.Effect, tool.Summary)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print names, descriptions and schemas as JSON")
	return cmd
}

// printToolsJSON prints what a host is told of tools, as JSON.
func (p *CommandLine) printToolsJSON(tools []contract.Tool) error {
	type row struct {
		Name        string          `json:"name"`
		Summary     string          `json:"summary"`
		Description string          `json:"description"`
		Effect      string          `json:"effect"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	rows := []row{}
	for _, t := range tools {
		rows = append(rows, row{t.Name, t.Summary, t.Description, t.Effect, json.RawMessage(t.InputSchema)})
	}
	return cli.PrintJSON(p.Host.Stdout, p.Host.Terminal, rows)
}

func (p *CommandLine) versionCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{ // package app handles --version
		Use: "version", Short: "Print the version", Example: cli.Examples(p.Host.Name, "version", "version --json"), Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printBuild(p.Host)
			}
			return PrintVersion(p.Host)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the version, the commit and the system as JSON")
	return cmd
}

// printBuild prints, as JSON, the version of the program and how it was built, as far as the Go command knew that.
func printBuild(host *toolset.Host) error {
	built := struct {
		Name     string `json:"name"`
		Version  string `json:"version"`
		Commit   string `json:"commit,omitempty"`
		Time     string `json:"time,omitempty"`
		Modified bool   `json:"modified,omitempty"` // the tree had changes
		Go       string `json:"go"`
		System   string `json:"system"`
	}{Name: host.Name, Version: host.Version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				built.Commit = s.Value
			case "vcs.time":
				built.Time = s.Value
			case "vcs.modified":
				built.Modified = s.Value == "true"
			}
		}
	}
	return cli.WriteJSON(host.Stdout, host.Terminal, []byte(contract.JSON(built)+"\n"))
}

// PrintVersion prints the version, as the command version does.
func PrintVersion(host *toolset.Host) error {
	_, err := fmt.Fprintln(host.Stdout, host.Name, host.Version)
	return err
}
