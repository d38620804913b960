package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/generated"
)

func (a *app) toolsCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "tools", Short: "List the tools", Args: noArgs,
		Long: "Lists the tools that assistants get, what calling each does, and what it is for.",
		Example: `  convtools tools
  convtools tools --json`,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.toolsJSON()
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			for _, tool := range generated.Tools() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", tool.Name, tool.Effect, tool.Summary)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print names, descriptions and schemas as JSON")
	return cmd
}

func (a *app) toolsJSON() error {
	type row struct {
		Name        string          `json:"name"`
		Summary     string          `json:"summary"`
		Description string          `json:"description"`
		Effect      string          `json:"effect"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	rows := []row{}
	for _, t := range generated.Tools() {
		rows = append(rows, row{t.Name, t.Summary, t.Description, t.Effect, json.RawMessage(t.InputSchema)})
	}
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}
