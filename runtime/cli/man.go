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

// manPage returns the manual page of a command, in the man(7) macros.
func manPage(cmd *cobra.Command, version string) string {
	var b strings.Builder
	write := func(macros, text string) { b.WriteString(macros + roff(text) + "\n") }
	fmt.Fprintf(&b, ".TH %s 1 \"\" %q\n", strings.ToUpper(roff(manName(cmd))), version)
	write(".SH NAME\n", manName(cmd)+" - "+cmd.Short)
	write(".SH SYNOPSIS\n.B ", cmd.UseLine())
	b.WriteString(".SH DESCRIPTION\n" + roffParagraphs(cmp.Or(cmd.Long, cmd.Short+".")))
	b.WriteString(".SH OPTIONS\n")
	for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			_, usage := pflag.UnquoteUsage(f)
			write(".TP\n.B ", flagName(f))
			write("", usage)
		})
	}
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n" + roffParagraphs(cmd.Example))
	}
	b.WriteString(".SH SEE ALSO\n")
	for _, related := range append(listed(cmd), cmd.Root()) {
		write(".BR ", manName(related)+" (1)")
	}
	return b.String()
}

// roffParagraphs returns the paragraphs of a text with macros. An indented paragraph, an example or a table, keeps its
// line breaks and loses two spaces of each line: pages are indented.
func roffParagraphs(text string) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
		if indented, ok := strings.CutPrefix(paragraph, "  "); ok {
			b.WriteString(".PP\n.nf\n" + roff(strings.ReplaceAll(indented, "\n  ", "\n")) + "\n.fi\n")
		} else {
			b.WriteString(".PP\n" + roff(paragraph) + "\n")
		}
	}
	return b.String()
}

// flagName returns a flag with its value, such as "-w, --workspace DIR". A value that may be missing is in brackets.
func flagName(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	value, _ := pflag.UnquoteUsage(f)
	if value == "" {
		return name
	}
	if isOptional := f.NoOptDefVal != ""; isOptional {
		return name + "[=" + value + "]"
	}
	return name + " " + value
}

// roff escapes what has a meaning for troff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + text)
	return text[1:]
}
