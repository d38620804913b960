package knowledgecli

import (
	"bufio"
	"bytes"
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

// howToBegin tells somebody without topics what to do.
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
		ValidArgsFunction: c.completeTopics,
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := c.open()
			if err != nil {
				return err
			}
			topics := []knowledge.Topic{}
			if len(args) == 1 {
				topic, err := b.Topic(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				topics = append(topics, topic)
			} else if topics, err = b.Topics(cmd.Context()); err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c.host.Stdout, c.host.Terminal, topics)
			}
			if len(topics) == 0 {
				c.sayHowToBegin(b)
			}
			for _, topic := range topics {
				for _, w := range topic.Warnings {
					fmt.Fprintf(c.host.Stderr, "warning: %s\n", plainLine(w))
				}
			}
			return printTopics(c.host.Stdout, topics)
		},
	}
	c.patternFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print everything that is known of them as JSON")
	return cmd
}

// sayHowToBegin tells on standard error why there is nothing to show.
func (c *commands) sayHowToBegin(b *knowledge.Base) {
	where := "this directory is in no workspace, which would have .jp or convtools.toml in it"
	if b.Root() != "" {
		where = "no topic is configured here"
	}
	fmt.Fprintf(c.host.Stderr, "note: there is no knowledge base: %s\nhint: %s", where, howToBegin)
}

// printTopics draws topics as trees, with a blank line between them.
func printTopics(w io.Writer, topics []knowledge.Topic) error {
	out := bufio.NewWriter(w)
	for i, topic := range topics {
		if i > 0 {
			out.WriteByte('\n')
		}
		if err := printTopic(out, topic); err != nil {
			return err
		}
	}
	return out.Flush()
}

func printTopic(out *bufio.Writer, topic knowledge.Topic) error {
	title := ""
	if topic.Title != "" {
		title = " (" + plainLine(topic.Title) + ")"
	}
	fmt.Fprintf(out, "%s%s: %s\n", topic.ID, title, topicState(topic))
	var table bytes.Buffer
	rows := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	var folders []string // those that the last line was in
	for _, s := range topic.Subjects {
		parts := strings.Split(s.Name, "/")
		name, path := parts[len(parts)-1], parts[:len(parts)-1]
		same := 0
		for same < min(len(path), len(folders)) && path[same] == folders[same] {
			same++
		}
		for depth := same; depth < len(path); depth++ {
			// The cells that follow keep the columns below one another.
			fmt.Fprintf(rows, "%s%s/\t\t\t\n", indent(depth), plainLine(path[depth]))
		}
		folders = path
		fmt.Fprintf(rows, "%s%s\t%s\t%s\t%s\n", indent(len(path)), plainLine(name), fileSize(s), fileTokens(s), marks(s))
	}
	if err := rows.Flush(); err != nil {
		return err
	}
	for line := range bytes.Lines(table.Bytes()) {
		out.Write(append(bytes.TrimRight(line, " \n"), '\n'))
	}
	if n := len(topic.LeftOut); n > 0 {
		fmt.Fprintf(out, "  (left out: %s; convtools knowledge check says why)\n", text.Count(n, "file or link", "files and links"))
	}
	return nil
}

func topicState(topic knowledge.Topic) string {
	switch {
	case topic.Disabled:
		return "disabled"
	case topic.Problem != "":
		return "cannot be learned: " + plainLine(topic.Problem)
	}
	var size int64
	tokens := 0
	for _, s := range topic.Subjects {
		if s.Binary || s.TooLarge {
			continue
		}
		size += s.Size
		tokens += s.Tokens
	}
	return fmt.Sprintf("%s in %s, %s, about %s", text.Count(len(topic.Subjects), "subject", "subjects"), plainLine(topic.Dir), byteSize(size), text.Count(tokens, "token", "tokens"))
}

func indent(depth int) string { return strings.Repeat("  ", depth+1) }

func fileSize(s subjects.Subject) string {
	if s.Problem != "" {
		return "?"
	}
	return byteSize(s.Size)
}

func fileTokens(s subjects.Subject) string {
	if s.Problem != "" || s.Binary || s.TooLarge {
		return ""
	}
	return text.Count(s.Tokens, "token", "tokens")
}

// marks says what is special about a subject, and what a skill is for.
func marks(s subjects.Subject) string {
	var all []string
	for _, mark := range []struct {
		set  bool
		name string
	}{
		{s.Disabled, "disabled"},
		{s.Learned && !s.Disabled, "learned"},
		{s.Hidden, "hidden"},
		{s.Skill, "skill"},
		{s.Binary, "binary, cannot be loaded"},
		{s.TooLarge, "over the limit of 4 MiB, cannot be loaded"},
		{s.Problem != "", "cannot be read: " + plainLine(s.Problem)},
	} {
		if mark.set {
			all = append(all, mark.name)
		}
	}
	line := strings.Join(all, ", ")
	if s.Description != "" {
		if line != "" {
			line += ": "
		}
		line += text.Cut(plainLine(s.Description), 60)
	}
	return line
}

// byteSize is a number of bytes as people read it.
func byteSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1000*1000*1000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
}
