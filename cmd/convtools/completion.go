package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/runtime/install"
)

func completeHosts(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, h := range install.Hosts() {
		if len(args) == 0 {
			names = append(names, cobra.CompletionWithDesc(h.Name, h.Title))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completesTools has the shell complete the names of tools, and then the names
// and values of a tool's arguments.
func completesTools(cmd *cobra.Command) *cobra.Command {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return completeArgument(args[0], word)
		}
		var names []cobra.Completion
		for _, tool := range generated.Tools() {
			names = append(names, cobra.CompletionWithDesc(tool.Name, tool.Summary))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func completeArgument(name, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var schema struct {
		Properties map[string]struct {
			Type string   `json:"type"`
			Enum []string `json:"enum"`
		} `json:"properties"`
	}
	tool, ok := generated.Lookup(name)
	if !ok || json.Unmarshal([]byte(tool.InputSchema), &schema) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []cobra.Completion
	if key, _, ok := strings.Cut(word, "="); ok {
		values := schema.Properties[key].Enum
		if schema.Properties[key].Type == "boolean" {
			values = []string{"true", "false"}
		}
		for _, value := range values {
			words = append(words, key+"="+value)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	for key := range schema.Properties {
		words = append(words, key+"=")
	}
	slices.Sort(words)
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
