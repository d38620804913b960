package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// ManCommand returns the command that writes the manual pages of a program, for packagers.
func ManCommand(program, version string) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages",
		Long: `Writes the manual pages, one for each command, into the directory DIR, which is
made where it is missing. They hold what ` + program + ` help says.`,
		Example: "  " + program + " man ~/.local/share/man/man1\n  man " + program + "-install",
		Args:    OneArg("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // manual pages are for everybody
				return fmt.Errorf("making the directory for manual pages: %w", err)
			}
			return writeManual(cmd.Root(), args[0], program+" "+version)
		},
	}
}

// writeManual writes the pages of a command, and of all commands below it that help shows, into dir.
func writeManual(cmd *cobra.Command, dir, version string) error {
	name := filepath.Join(dir, manName(cmd)+".1")
	if err := safefile.Write(name, []byte(manPage(cmd, version)), 0o644); err != nil { // manual pages are for everybody
		return fmt.Errorf("writing a manual page: %w", err)
	}
	for _, sub := range listed(cmd) {
		if err := writeManual(sub, dir, version); err != nil {
			return err
		}
	}
	return nil
}

// manName returns the name of a command's page, such as "convtools-conversation-grep".
func manName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// manPage returns a page in the man(7) macros. Lines of examples and tables stay: they have to fit 80 columns.
func manPage(cmd *cobra.Command, version string) string {
	var b strings.Builder
	add := func(macros, text string) { b.WriteString(macros + roff(text) + "\n") }
	paragraphs := func(text string) {
		for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
			if strings.HasPrefix(paragraph, "  ") { // pages are indented already
				add(".PP\n.nf\n", strings.ReplaceAll(paragraph[2:], "\n  ", "\n"))
				b.WriteString(".fi\n")
			} else {
				add(".PP\n", paragraph)
			}
		}
	}
	fmt.Fprintf(&b, ".TH %s 1 \"\" %q\n", strings.ToUpper(roff(manName(cmd))), version)
	add(".SH NAME\n", manName(cmd)+" - "+cmd.Short)
	add(".SH SYNOPSIS\n.B ", cmd.UseLine())
	b.WriteString(".SH DESCRIPTION\n")
	paragraphs(cmp.Or(cmd.Long, cmd.Short+"."))
	b.WriteString(".SH OPTIONS\n")
	for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if _, usage := pflag.UnquoteUsage(f); !f.Hidden && f.Name != "help" {
				add(".TP\n.B ", flagName(f))
				add("", usage)
			}
		})
	}
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		paragraphs(cmd.Example)
	}
	b.WriteString(".SH SEE ALSO\n")
	for _, related := range append(listed(cmd), cmd.Root()) {
		add(".BR ", manName(related)+" (1)")
	}
	return b.String()
}

// flagName returns a flag as it is written, such as "-w, --workspace DIR".
func flagName(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	switch value, _ := pflag.UnquoteUsage(f); {
	case value == "":
	case f.NoOptDefVal != "":
		name += "[=" + value + "]"
	default:
		name += " " + value
	}
	return name
}

// roff escapes what has a meaning for troff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + text)
	return text[1:]
}
