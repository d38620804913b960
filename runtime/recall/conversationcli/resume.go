package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

// resuming is the command line of resume.
type resuming struct {
	commands
	family    *toolset.Family
	printOnly bool
}

// Resume returns the command "resume", which starts the program that recorded a session, to go on with the session. When
// it searches for sessions to choose from, it leaves out recorded calls of the tools of family.
func Resume(family *toolset.Family) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		c := &resuming{commands: commands{host: host}, family: family}
		cmd := c.newCommand("resume [ID | WORDS…]", "", "Go on with a session in the program that recorded it",
			`Starts the program that recorded a session, in its directory, to go on with it.
In place of an ID, words let you choose among the conversations that answer them
best, and without words you choose among the last ones.

ID may also be that of a session of another project.`,
			"resume claude-5afd8764", "resume --print retry cap")
		cmd.Flags().BoolVar(&c.printOnly, "print", false, "print the command, and start nothing")
		cmd.Flags().BoolVar(&c.allProjects, "all-projects", false, "choose among conversations of every project on this machine")
		cmd.ValidArgsFunction = c.completeIDs
		return c.command(cmd, c.run)
	}
}

// run starts the program of a conversation, in the directory of the conversation and in place of this process. With
// --print it prints the command instead. The error says why the program cannot be started.
func (c *resuming) run(ctx context.Context, args []string) error {
	found, err := c.find(ctx, args)
	if err != nil {
		return err
	}
	program, words := cmp.Or(found.Source, jp.Name), conversations.ResumeCommand(&found.Conversation)
	switch {
	case len(words) == 0:
		return failed("conversation print "+string(found.ID)+" prints it", "%s cannot be started with a session", program)
	case !filepath.IsAbs(found.Dir):
		return failed("start "+process.JoinCommand(words...)+" where it was", "the directory of %s is not known", found.ID)
	case c.printOnly:
		c.out.write(text.Line("cd "+process.JoinCommand(found.Dir)+" && "+process.JoinCommand(words...)) + "\n")
		return nil
	}
	if !store.IsThere(found.Dir) {
		return failed("resume --print "+string(found.ID)+" prints the command; the program may look for its session by the directory",
			"the directory of %s is gone: %s", found.ID, found.Dir)
	}
	path, err := programPath(words[0], c.host.Name)
	if err != nil {
		return failed("install it, or add it to PATH", "%s recorded %s, and there is no program %s in PATH", program, found.ID, words[0])
	}
	if err := c.out.flush(); err != nil {
		return err
	}
	return cli.Become(path, words[1:], found.Dir)
}

// programPath returns the absolute path of the program with a name. For own, the name of this program, it is the running
// program; otherwise it is looked for in PATH.
func programPath(name, own string) (string, error) {
	if name == own {
		return os.Executable()
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// find returns the conversation that a single argument names, of this project or else of all projects. It returns an error
// for an id that no conversation has. In all other cases the user chooses; args are the words of a question, or empty.
func (c *resuming) find(ctx context.Context, args []string) (*conversations.Listed, error) {
	if len(args) == 1 {
		_, err := conversations.ParseID(args[0])
		isID := err == nil
		list, err := c.named(ctx, args)
		if err != nil && isID {
			c.library, c.allProjects = nil, true // named opens the library again, with all projects
			if list, err = c.named(ctx, args); err != nil {
				list, _ = c.named(ctx, []string{"convtools-" + args[0]}) // for an id of this program's sessions without the name
			}
		}
		if len(list) == 1 {
			return &list[0], nil
		}
		if isID {
			return nil, err // about the id as given
		}
	}
	list, err := c.choices(ctx, strings.Join(args, " "))
	if err != nil {
		return nil, err
	}
	return c.choose(ctx, list)
}

// maxChoices is the number of conversations that are offered.
const maxChoices = 9

// choices returns up to maxChoices conversations: those that answer question best, or if that is empty the last ones.
func (c *resuming) choices(ctx context.Context, question string) (list []conversations.Listed, err error) {
	if question == "" {
		found, err := c.list(ctx, conversations.ListQuery{Limit: maxChoices})
		return found.Conversations, err
	}
	const passages = 40
	q := conversations.SearchQuery{Order: conversations.Relevance, Question: question, Limit: passages, MaxText: recalledText, MaxWide: recalledText}
	q.Own = isToolOf(c.family)
	found, err := c.commands.find(ctx, &q, "")
	if err != nil {
		return nil, err
	}
	for _, m := range found.Conversations[:min(len(found.Conversations), maxChoices)] {
		list = append(list, m.Listed)
	}
	return list, nil
}

// choose shows conversations with numbers, and returns the conversation whose number the user types. The error says that
// there is no conversation, that nobody can be asked, or that no conversation has the number.
func (c *resuming) choose(ctx context.Context, list []conversations.Listed) (*conversations.Listed, error) {
	if len(list) == 0 {
		return nil, failed("conversation ls shows the conversations there are; --all-projects those of all projects", "no conversation was found")
	}
	for i := range list {
		l := &list[i]
		day, title := c.day(l.ActiveAt()), text.Cell(l.Title)
		if room := c.out.width - len(l.ID) - len(day) - 8; c.out.terminal && room > minRoom { // 8 for the number and spaces
			title = text.Truncate(title, room)
		}
		c.out.write(fmt.Sprintf("%d  %s  %s  %s\n", i+1, c.out.style(styleID, string(l.ID)), day, title))
	}
	if err := c.out.flush(); err != nil {
		return nil, err
	}
	answer, err := cli.Answer(ctx, c.host.Stdin, c.host.Stderr, fmt.Sprintf("Which one? [1-%d] ", len(list)))
	n, numberErr := strconv.Atoi(answer)
	switch {
	case errors.Is(err, cli.ErrNobody):
		return nil, failed("resume ID goes on with one of them", "nobody can be asked here which one is meant")
	case err != nil:
		return nil, err
	case answer == "":
		return nil, cli.ErrFailed // the user knows why: there is no message
	case numberErr != nil || n < 1 || n > len(list):
		return nil, failed("type the number before it", "%s is none of them", text.Quote(answer))
	}
	return &list[n-1], nil
}

// resumeNote tells a person on a terminal how to go on with a conversation.
func (c *commands) resumeNote(l *transcript.Conversation) {
	if c.out.isTable() && len(conversations.ResumeCommand(l)) > 0 && c.out.flush() == nil {
		c.note("to go on with it: %s resume %s", c.host.Name, l.ID)
	}
}
