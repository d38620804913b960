package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// manCommand is for those who package the program; people have help.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages", Hidden: true, Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.InitDefaultCompletionCmd()
			return writeManual(root, args[0])
		},
	}
}

// exactly is cobra.ExactArgs with an error of the class for wrong use.
func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(n)(cmd, args); err != nil {
			return &usageError{err}
		}
		return nil
	}
}

// writeManual writes a page for a command and each of those below it.
func writeManual(cmd *cobra.Command, dir string) error {
	name := filepath.Join(dir, manName(cmd)+".1")
	if err := os.WriteFile(name, manPage(cmd), 0o644); err != nil { //nolint:gosec // manual pages are for everybody
		return fmt.Errorf("writing a manual page: %w", err)
	}
	for _, sub := range listed(cmd) {
		if err := writeManual(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// listed returns the commands below a command that people are shown.
func listed(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool {
		return !c.IsAvailableCommand() || c.Name() == "help"
	})
}

func manName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// manPage writes a page in the man(7) macros.
func manPage(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s\n", strings.ToUpper(roff(manName(cmd))), `"convtools `+version+`"`)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	if cmd.Long != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", manText(cmd.Long))
	}
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags().FlagUsagesWrapped(helpWidth))
	manFlags(&b, "OPTIONS OF EVERY COMMAND", cmd.InheritedFlags().FlagUsagesWrapped(helpWidth))
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	var related []string
	if parent := cmd.Parent(); parent != nil {
		related = append(related, manName(parent))
	}
	for _, sub := range listed(cmd) {
		related = append(related, manName(sub))
	}
	if len(related) > 0 {
		b.WriteString(".SH SEE ALSO\n")
		for i, name := range related {
			fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(name), strings.Repeat(",", min(1, len(related)-1-i)))
		}
	}
	return b.Bytes()
}

// manText keeps paragraphs, and the lines of those that are indented.
func manText(text string) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		format := ".PP\n%s\n"
		if strings.HasPrefix(paragraph, " ") {
			format = ".PP\n.nf\n%s\n.fi\n"
		}
		fmt.Fprintf(&b, format, roff(strings.TrimRight(paragraph, "\n")))
	}
	return b.String()
}

// manFlags writes flags as help does, in columns.
func manFlags(b *bytes.Buffer, title, usages string) {
	if usages != "" {
		fmt.Fprintf(b, ".SH %s\n.nf\n%s\n.fi\n", title, roff(strings.TrimRight(usages, "\n")))
	}
}

// roff escapes what troff would take for more than text.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
