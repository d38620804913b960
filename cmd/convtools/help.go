package main

import "github.com/spf13/cobra"

// helpWidth is how wide help may be, in characters.
const helpWidth = 80

// withHelp makes the help of a command, and of those below it, fit a screen of 80
// by 24: usage on one line, and the flags that every command has on one more.
func withHelp(root *cobra.Command) *cobra.Command {
	root.SetUsageTemplate(`Usage: {{if .Runnable}}{{.UseLine}}{{else}}{{.CommandPath}} COMMAND{{end}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}
{{- if .HasAvailableSubCommands}}

Commands:
{{- range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}
{{- end}}{{end}}
{{- end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}
{{- end}}
{{- if .HasAvailableInheritedFlags}}
Of every command: -w, --workspace DIR; --conversation-id ID (see convtools help)
{{- end}}
`)
	return root
}
