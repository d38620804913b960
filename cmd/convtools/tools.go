package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/contract"
)

func (a *app) toolsCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "tools", Short: "List the tools", Args: noArgs,
		Long: `Lists the tools that assistants get in this workspace, what calling each does,
and what it is for. learn is among them where there is something to learn.`,
		Example: `  convtools tools
  convtools tools --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tools := a.offeredTools(cmd.Context())
			if asJSON {
				return a.toolsJSON(tools)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			for _, tool := range tools {
				fmt.Fprintf(w, "%s\t%s\t%s\n", tool.Name, tool.Effect, tool.Summary)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print names, descriptions and schemas as JSON")
	return cmd
}

func (a *app) toolsJSON(tools []contract.Tool) error {
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
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}
