// Package knowledgecli is the command line for people who keep a knowledge base:
// convtools knowledge and what is below it.
//
// It prints what package knowledge finds, and writes one thing: the file of a new
// subject, never over another.
package knowledgecli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/toolset"
)

// commands are the commands of one host.
type commands struct {
	host *toolset.Host
	opts knowledge.Options // what flags have set
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

// patternFlag gives a command the flag that adds to what is learned.
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

// subjectArgs reads TOPIC/SLUG, or the two as arguments of their own. An id has
// no slash, and a title that has one can stand alone as an argument.
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

// completeSubject completes TOPIC/SLUG, for the first argument.
func (c *commands) completeSubject(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	b, err := c.open()
	if err != nil || len(args) > 0 {
		return nil, directive
	}
	if !strings.Contains(word, "/") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return b.CompletePath(cmd.Context(), word), directive
}

// completeTopics completes the ids of topics, for the first argument.
func (c *commands) completeTopics(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	b, err := c.open()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return b.CompleteTopic(word), cobra.ShellCompDirectiveNoFileComp
}

// plainLine makes a name or text from anywhere fit for one line of a terminal and
// for a cell of a table.
func plainLine(s string) string { return strings.Join(strings.Fields(text.Line(s)), " ") }
