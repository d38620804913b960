package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

// Forget returns the command "forget", which leaves conversations out of everything.
func Forget(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	cmd := c.newCommand("forget ID…", "", "Take conversations out of the archive and the index, for good",
		`Takes conversations out of your archive and the index, and keeps them out: they
are not read, found or imported any more. What the programs that recorded them
have stays where it is; forget says how to delete it there.

The ids are in ~/.local/share/convtools/forgotten: a conversation without a line
there is read again.`,
		"forget claude-5afd8764-1e4a-4af6-951b-d71a909fd1bc")
	cmd.ValidArgsFunction = c.completeIDs
	c.allProjects = true
	return c.command(cmd, func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return cli.Usagef("forget needs the IDs of conversations")
		}
		return c.forget(ctx, args)
	})
}

// forget forgets conversations with their parts, such as the work of sub-agents. For each conversation it writes how to
// delete it in the program that recorded it.
func (c *commands) forget(ctx context.Context, args []string) error {
	list, err := c.named(ctx, args)
	if err != nil {
		return err
	}
	all, err := c.all(ctx, conversations.Filter{Both: true, Hidden: true})
	if err != nil {
		return err
	}
	var ids []transcript.ID
	for _, l := range list {
		ids = append(ids, l.ID)
		for _, part := range all {
			if strings.HasPrefix(string(part.ID), string(l.ID)+".") {
				ids = append(ids, part.ID)
			}
		}
	}
	places := map[string]string{}
	for _, s := range c.library.Origins() {
		places[s.Name] = cmp.Or(places[s.Name], s.Place)
	}
	if err := errors.Join(c.deleteArchived(ctx, ids), c.library.Forget(ctx, c.options(), ids...)); err != nil {
		return err
	}
	for i := range list {
		l := &list[i]
		how := ""
		if program := cmp.Or(l.Source, jp.Name); conversations.IsProgram(program) {
			_, session, _ := l.ID.Split()
			how = ". To delete it in " + program + " too, use that program, or remove the files and rows of " + session + " below " + c.shortPath(places[program])
		}
		c.out.write(text.Line(fmt.Sprintf("%s is forgotten%s", l.ID, how)) + "\n")
	}
	return nil
}

// deleteArchived deletes conversations from the archive, which it opens only if one of the ids is of the archive.
func (c *commands) deleteArchived(ctx context.Context, ids []transcript.ID) (err error) {
	var w *archive.Writer
	for _, id := range ids {
		if conversations.SourceOf(id) != archive.Name {
			continue
		}
		if w == nil {
			if w, err = c.archive(ctx, false); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.Close()) }()
		}
		if _, err := w.Delete(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
