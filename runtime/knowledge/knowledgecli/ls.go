package knowledgecli

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/knowledge"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// howToBegin explains topics to a user who has none.
const howToBegin = `a topic is a directory of files and a table in convtools.toml:

  [kb.topic.project]
  introduction = "How this project is built and released"
  subjects = "docs/knowledge"
`

func (c *commands) ls() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:        "ls [TOPIC]",
		SuggestFor: []string{"list"},
		Short:      "List topics and their subjects",
		Long: `Lists topics and their subjects with their sizes, and estimates how many tokens
each takes. What assistants are not shown is there too, and marked: hidden and
disabled subjects, files that are binary or too large. Skills are listed under
the name of their folder.`,
		Example: `  convtools knowledge ls
  convtools knowledge ls project
  convtools knowledge ls --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("ls takes at most one argument, TOPIC, and got %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: c.complete((*knowledge.Base).CompleteTopic),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := c.open()
			if err != nil {
				return err
			}
			topics := make([]knowledge.Topic, len(args))
			if len(args) == 1 {
				topics[0], err = b.Topic(cmd.Context(), args[0])
			} else {
				topics, err = b.Topics(cmd.Context())
			}
			switch {
			case err != nil:
				return err
			case asJSON:
				return cli.PrintJSON(c.host.Stdout, c.host.Terminal, topics)
			case len(topics) == 0:
				c.sayHowToBegin(b)
			}
			for _, topic := range topics {
				for _, w := range topic.Warnings {
					fmt.Fprintf(c.host.Stderr, "warning: %s\n", text.Cell(w))
				}
			}
			return printTopics(c.host.Stdout, topics)
		},
	}
	c.patternFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print everything that is known of them as JSON")
	return cmd
}

// sayHowToBegin writes to standard error why there is no knowledge base, and how to make one.
func (c *commands) sayHowToBegin(b *knowledge.Base) {
	where := "this directory is in no workspace, which would have .jp or convtools.toml in it"
	if b.Root() != "" {
		where = "no topic is configured here"
	}
	fmt.Fprintf(c.host.Stderr, "note: there is no knowledge base: %s\nhint: %s", where, howToBegin)
}

// printTopics writes topics with a line for each subject, and a blank line between topics.
func printTopics(w io.Writer, topics []knowledge.Topic) error {
	out := bufio.NewWriter(w)
	for i, topic := range topics {
		if i > 0 {
			out.WriteByte('\n')
		}
		title := ""
		if topic.Title != "" {
			title = " (" + text.Cell(topic.Title) + ")"
		}
		fmt.Fprintf(out, "%s%s: %s\n", topic.ID, title, topicState(topic))
		rows := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, s := range topic.Subjects {
			line := fmt.Sprintf("  %s\t%s\t%s", text.Cell(s.Name), fileSize(s), marksOf(s))
			fmt.Fprintln(rows, strings.TrimSuffix(line, "\t")) // a tab at the end would become blanks
		}
		if err := rows.Flush(); err != nil {
			return err
		}
		if n := len(topic.LeftOut); n > 0 {
			fmt.Fprintf(out, "  (left out: %s; convtools knowledge check says why)\n", text.Count(n, "file or link", "files and links"))
		}
	}
	return out.Flush()
}

// topicState returns why a topic cannot be learned; or the number of its subjects, its directory and its size.
func topicState(topic knowledge.Topic) string {
	switch {
	case topic.Disabled:
		return "disabled"
	case topic.Problem != "":
		return "cannot be learned: " + text.Cell(topic.Problem)
	}
	var size int64
	tokens := 0
	for _, s := range topic.Subjects {
		tokens += s.Tokens
		if isLoadable := !s.Binary && !s.TooLarge; isLoadable {
			size += s.Size
		}
	}
	return fmt.Sprintf("%s in %s, %s, about %s", text.Count(len(topic.Subjects), "subject", "subjects"), text.Cell(topic.Dir), byteSize(size), text.Count(tokens, "token", "tokens"))
}

// fileSize returns the size of a subject in bytes and, if it can be loaded, in tokens; "?" if it cannot be read.
func fileSize(s *subjects.Subject) string {
	switch {
	case s.Problem != "":
		return "?"
	case s.Binary || s.TooLarge:
		return byteSize(s.Size)
	}
	return byteSize(s.Size) + ", " + text.Count(s.Tokens, "token", "tokens")
}

// marksOf returns the properties of a subject, with commas between them, and the description of a skill.
func marksOf(s *subjects.Subject) string {
	var marks []string
	addIf := func(condition bool, mark string) {
		if condition {
			marks = append(marks, mark)
		}
	}
	addIf(s.Disabled, "disabled")
	addIf(s.Learned && !s.Disabled, "learned")
	addIf(s.Hidden, "hidden")
	addIf(s.Skill, "skill")
	addIf(s.Binary, "binary, cannot be loaded")
	addIf(s.TooLarge, "over the limit of 4 MiB, cannot be loaded")
	addIf(s.Problem != "", "cannot be read: "+text.Cell(s.Problem))
	line := strings.Join(marks, ", ")
	if s.Description != "" {
		line += ": " + text.Cut(text.Cell(s.Description), 60)
	}
	return strings.TrimPrefix(line, ": ")
}

// byteSize returns a number of bytes with its unit.
func byteSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
