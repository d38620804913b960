// Package knowledgecli has the commands below convtools knowledge, for people who keep a knowledge base.
//
// It prints the results of package knowledge. It writes only the file of a new subject, and never over another file.
package knowledgecli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/toolset"
)

// commands are the commands of one host.
type commands struct {
	host *toolset.Host
	opts knowledge.Options // set by flags
}

// Command returns convtools knowledge.
func Command(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	cmd := &cobra.Command{
		Use:     "knowledge",
		Aliases: []string{"kb"},
		Short:   "Show, check and extend the knowledge base",
		Long: `Shows, checks and extends what assistants can learn about a project: topics,
which are directories of files, and subjects, which are those files. A topic is
a table in convtools.toml:

  [kb.topic.project]
  subjects = "docs/knowledge"`,
		Example: `  convtools knowledge ls
  convtools knowledge check`,
	}
	return cli.Group(cmd, c.ls(), c.show(), c.check(), c.create(), c.prompt())
}

// patternFlag adds the flag for learned patterns to a command.
func (c *commands) patternFlag(cmd *cobra.Command) {
	knowledge.PatternFlag(c.host, &c.opts).AddToCommand(cmd)
}

// open opens the knowledge base of the project that the command line names.
func (c *commands) open() (*knowledge.Base, error) {
	b, err := knowledge.OpenFor(c.host, "", c.opts)
	if err != nil {
		return nil, err
	}
	for _, sentence := range b.Unread() {
		c.host.WarnOnce(sentence)
	}
	return b, nil
}

// subjectArgs returns the topic and the subject in the arguments. One argument is TOPIC/SLUG; TOPIC ends at the first
// slash. Two arguments are TOPIC and SLUG; TOPIC may be a title with a slash. Other arguments are a usage error.
func subjectArgs(cmd *cobra.Command, args []string) (topic, subject string, err error) {
	switch len(args) {
	case 1:
		topic, subject, _ = strings.Cut(args[0], "/")
	case 2:
		topic, subject = args[0], args[1]
	}
	if strings.TrimSpace(topic) == "" || strings.TrimSpace(subject) == "" {
		return "", "", cli.Usagef("%s needs a topic and a subject, as in: %s project/style", cmd.Name(), cmd.CommandPath())
	}
	return topic, subject, nil
}

// complete returns the function that completes the first argument of a command with the results of find for a word.
func (c *commands) complete(find func(*knowledge.Base, context.Context, string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		directive := cobra.ShellCompDirectiveNoFileComp
		b, err := c.open()
		if err != nil || len(args) > 0 {
			return nil, directive
		}
		completions := find(b, cmd.Context(), word)
		if len(completions) > 0 && strings.HasSuffix(completions[0], "/") {
			directive |= cobra.ShellCompDirectiveNoSpace // a subject follows
		}
		return completions, directive
	}
}
