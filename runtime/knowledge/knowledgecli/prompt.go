package knowledgecli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
)

func (c *commands) prompt() *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "prompt",
		Short: "Print the section for a system prompt",
		Long: `Prints the <knowledge> section for a system prompt: learned subjects in full,
and the topics that the learn tool offers. Where there is nothing to say, it
prints nothing. The section is how things are now: make it again when what is
learned has changed. A host that puts it into its prompt has the tools told
so, with install HOST --prompt-injected: then they do not offer it again.

With --format jp it is a configuration that JP loads with --cfg.`,
		Example: `  convtools knowledge prompt -k 'project/style/**'
  claude --append-system-prompt "$(convtools knowledge prompt)"
  convtools kb prompt --format jp > .jp/config/knowledge-section.json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "text" && format != "jp" {
				return cli.Usagef("--format is text or jp, not %q", format)
			}
			b, err := c.open()
			if err != nil {
				return err
			}
			section, warnings, err := b.Section(cmd.Context())
			if err != nil {
				return err
			}
			for _, w := range warnings {
				fmt.Fprintf(c.host.Stderr, "warning: %s\n", text.Cell(w))
			}
			if section == "" {
				if len(b.TopicIDs()) == 0 {
					c.sayHowToBegin(b)
				} else {
					fmt.Fprintln(c.host.Stderr, "note: there is no section: no topic has a subject that is listed or learned")
				}
			}
			switch {
			case format == "jp":
				return c.printJPConfig(section)
			case section != "":
				_, err = fmt.Fprintln(c.host.Stdout, section)
			}
			return err
		},
	}
	c.patternFlag(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "print it as `FORMAT`: text, or jp for a configuration of JP")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]cobra.Completion{"text", "jp"}, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that is not there
	return cmd
}

// printJPConfig prints a configuration of JP that adds a section to the system prompt of JP. If the section is empty,
// it prints a configuration that changes nothing, because JP refuses an empty file.
func (c *commands) printJPConfig(section string) error {
	config := map[string]any{}
	if section != "" {
		config["assistant"] = map[string]any{"system_prompt_sections": []map[string]string{{"content": section}}}
	}
	enc := json.NewEncoder(c.host.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(config)
}
