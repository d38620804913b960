package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// ManCommand returns the command that writes the manual pages of a version of
// a program, for those who package it.
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
			return writeManual(cmd.Root(), args[0], version)
		},
	}
}

// writeManual writes a page for a command and each of those below it.
func writeManual(cmd *cobra.Command, dir, version string) error {
	name := filepath.Join(dir, manName(cmd)+".1")
	if err := safefile.Write(name, manPage(cmd, version), 0o644); err != nil { // manual pages are for everybody
		return fmt.Errorf("writing a manual page: %w", err)
	}
	for _, sub := range listed(cmd) {
		if err := writeManual(sub, dir, version); err != nil {
			return err
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// manPage writes a page in the man(7) macros, which fill lines to the width of the
// terminal. What is not filled, examples and tables, has to fit 80 columns.
func manPage(cmd *cobra.Command, version string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s\n", strings.ToUpper(roff(manName(cmd))), roff(fmt.Sprintf("%q %s", cmd.Root().Name()+" "+version, cmd.Root().Name())))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	for paragraph := range strings.SplitSeq(cmp.Or(cmd.Long, cmd.Short+"."), "\n\n") {
		if strings.HasPrefix(paragraph, " ") {
			manLines(&b, paragraph)
		} else {
			fmt.Fprintf(&b, ".PP\n%s\n", roff(paragraph))
		}
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, ".PP\nThe command is also called %s.\n", roff(strings.Join(cmd.Aliases, " or ")))
	}
	manFlags(&b, "OPTIONS", cmd.LocalFlags())
	manFlags(&b, "OPTIONS OF THE COMMANDS ABOVE", cmd.InheritedFlags())
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		manLines(&b, cmd.Example)
	}
	var related []string
	if parent := cmd.Parent(); parent != nil {
		related = append(related, manName(parent))
	}
	for _, sub := range listed(cmd) {
		related = append(related, manName(sub))
	}
	b.WriteString(".SH SEE ALSO\n")
	for i, name := range related {
		fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(name), strings.Repeat(",", min(1, len(related)-1-i)))
	}
	return b.Bytes()
}

// manLines writes lines that stay as they are. Pages are indented already.
func manLines(b *bytes.Buffer, text string) {
	b.WriteString(".PP\n.nf\n")
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString(roff(strings.TrimPrefix(line, "  ")) + "\n")
	}
	b.WriteString(".fi\n")
}

// manFlags writes a list of flags, each with what it is for.
func manFlags(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		_, usage := pflag.UnquoteUsage(f)
		if kind := f.Value.Type(); kind == "string" && f.DefValue != "" || kind == "bool" && f.DefValue == "true" {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(flagName(f)), roff(usage))
	})
}

// flagName is how a flag is written, such as "-w, --workspace DIR".
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
