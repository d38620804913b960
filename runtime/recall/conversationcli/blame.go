package conversationcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/store/toolcall"
	"github.com/convtools/convtools/runtime/toolset"
)

// Blame returns the command "blame": which conversations changed a file, or brought a line of it.
func Blame(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	cmd := c.newCommand("blame FILE[:LINE]", "", "Show which conversations changed a file, or brought a line",
		`Prints which conversations changed a file, the newest first: the conversation,
the event of its last change, the day, and the request that led there. With a
line, it prints the change that brought that line.

Changes are those that programs recorded, so that it does not matter how they
were committed. FILE may be the end of a path, of a file that is gone too.`,
		"blame runtime/feed/retry.go", "blame runtime/feed/retry.go:27 --json")
	cmd.Args = cli.OneArg("FILE or FILE:LINE")
	q := conversations.BlameQuery{}
	limit := cmd.Flags().Uint("limit", 20, "print at most `N` conversations")
	addSources(cmd, &q.Sources)
	c.addJSON(cmd, "json")
	return c.reading(cmd, func(ctx context.Context, args []string) error {
		if q.Limit = int(*limit); q.Limit == 0 {
			return misused("ask for 1 conversation or more", "there is nothing to print")
		}
		if err := c.setTarget(ctx, args[0], &q); err != nil {
			return err
		}
		return c.blame(ctx, q)
	})
}

// setTarget sets q.File to the path in arg, FILE or FILE:LINE; if there is no such file, to FILE as the end of a path.
// For FILE:LINE it also sets q.Line to the text of the line, and q.Until to the time at which the line was committed.
func (c *commands) setTarget(ctx context.Context, arg string, q *conversations.BlameQuery) error {
	file, n := arg, 0
	if colon := strings.LastIndexByte(arg, ':'); colon > 0 {
		if line, err := strconv.ParseUint(arg[colon+1:], 10, 31); err == nil {
			file, n = arg[:colon], int(line)
		}
	}
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.host.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if q.File = path; n == 0 { // no line
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			q.File = file // the end of a path
		}
		return nil
	}
	if q.Line, err = lineOf(path, n); err != nil {
		return err
	}
	q.Until = committed(ctx, path, n)
	return nil
}

// maxBlamed is the number of bytes of a file whose lines can be asked for.
const maxBlamed = 64 << 20

// lineOf returns a line of a file, counted from 1, without white space around it. It returns an error if the file has
// no such line, or if the line is blank.
func lineOf(path string, n int) (string, error) {
	f, _, err := safefile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxBlamed))
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(content), "\n")
	if n < 1 || n > len(lines) {
		return "", failed("lines are counted from 1", "%s has %s, and no line %d", filepath.Base(path), plural(len(lines), "line"), n)
	}
	line := strings.TrimSpace(lines[n-1])
	if line == "" {
		return "", failed("name a line that has a text", "line %d of %s is blank", n, filepath.Base(path))
	}
	return line, nil
}

// committed asks git when a line of a file was committed. The time is zero if the line was not, or if git cannot tell.
func committed(ctx context.Context, path string, n int) time.Time {
	const timeLimit = 5 * time.Second
	line := strconv.Itoa(n)
	found, err := process.Exec{}.Run(ctx, process.Command{
		Path: "git", Dir: filepath.Dir(path), Limits: process.Limits{Timeout: timeLimit},
		Args: []string{"--no-optional-locks", "-c", "core.fsmonitor=false", "blame", "--porcelain", "-L" + line + "," + line, "--", filepath.Base(path)},
	})
	if isCommitted := !strings.HasPrefix(string(found.Stdout), "0000000"); err != nil || found.ExitCode != 0 || !isCommitted {
		return time.Time{}
	}
	_, after, _ := strings.Cut(string(found.Stdout), "\nauthor-time ")
	seconds, _, _ := strings.Cut(after, "\n")
	if unix, err := strconv.ParseInt(seconds, 10, 64); err == nil {
		return time.Unix(unix, 0)
	}
	return time.Time{}
}

// blame prints the changes of a file or a line. It notes if there are no changes, or more than the limit.
func (c *commands) blame(ctx context.Context, q conversations.BlameQuery) error {
	library, err := c.open()
	if err != nil {
		return err
	}
	found, err := library.Blame(ctx, q)
	c.warnOf(found.Problems)
	if err != nil {
		return err
	}
	width := 0
	for _, change := range found.Changes {
		width = max(width, len(eventID(&change)))
	}
	for i := range found.Changes {
		c.out.add(c.changeLine(&found.Changes[i], width), changeObject(&found.Changes[i]))
	}
	n := len(found.Changes)
	switch {
	case n == 0 && q.Line != "":
		c.note("no recorded change brought this line: a person may have written it, or a program whose conversations are not read")
	case n == 0:
		c.note("no conversation changed %s%s", q.File, either(c.allProjects, "", "; --all-projects looks in all projects"))
	case n == q.Limit && n < found.Total:
		c.note("%d of %d shown; --limit %[2]d shows all", n, found.Total)
	}
	return foundAny(n > 0)
}

// eventID returns the conversation and the event of a change, as search show takes them.
func eventID(change *conversations.Change) string {
	return fmt.Sprintf("%s:%d", change.ID, change.Event)
}

// shortRequest is the number of characters of a request that says little without the title of its conversation.
const shortRequest = 25

// changeLine returns a change as a line: the event, padded to width, the day, and the request, with the title if short.
func (c *commands) changeLine(change *conversations.Change, width int) string {
	day := fmt.Sprintf("%-10s", c.day(change.Time))
	asked, title := text.Cell(change.Request), text.Cell(change.Title)
	if utf8.RuneCountInString(asked) < shortRequest && title != asked {
		asked = strings.TrimSpace(asked + " (" + title + ")")
	}
	if room := c.out.width - width - len(day) - 4; c.out.terminal && room > minRoom { // 4 spaces between columns
		asked = text.Truncate(asked, room)
	} else {
		asked = text.Cut(asked, maxRoom)
	}
	return c.out.style(styleID, fmt.Sprintf("%-*s", width, eventID(change))) + strings.TrimRight("  "+day+"  "+asked, " ") + "\n"
}

// changeObject returns a change as JSON has it.
func changeObject(change *conversations.Change) object {
	edits := objects(change.Edits, func(e *toolcall.Edit) object {
		return object{"path", e.Path, "before", e.Before, "after", e.After}
	})
	o := about(change.ID, change.Title, "source", orNull(change.Source), "event", change.Event, "timestamp", timestamp(change.Time))
	return append(o, "request", orNull(change.Request), "tool", change.Tool, "changes", change.Calls, "edits", edits)
}

// How returns the command "how": which commands were run for something. It leaves out recorded calls of family's tools.
func How(family *toolset.Family) func(*toolset.Host) *cobra.Command {
	return func(host *toolset.Host) *cobra.Command {
		c := &commands{host: host}
		cmd := c.newCommand("how WORDS…", "", "Show which commands were run for something",
			`Prints the shell commands that agents ran here for something, the best first:
how often, how often without success, and when and in which conversation last.
Commands that differ only in what shortens their output count as one.`,
			"how do we run the end-to-end tests", "how release --all-projects")
		cmd.ValidArgsFunction = cobra.NoFileCompletions
		q := conversations.SearchQuery{Order: conversations.Relevance, Commands: true, MaxText: recalledText, MaxWide: recalledText}
		limit := cmd.Flags().Uint("limit", 8, "print at most `N` commands")
		addSources(cmd, &q.Sources)
		c.addJSON(cmd, "json")
		return c.reading(cmd, func(ctx context.Context, args []string) error {
			q.Question, q.Limit, q.Own = strings.TrimSpace(strings.Join(args, " ")), int(*limit), isToolOf(family)
			if q.Question == "" || q.Limit == 0 {
				return cli.Usagef("say what the commands are for, and ask for 1 command or more")
			}
			return c.how(ctx, q, hintsWithout(cmd.Flags()))
		})
	}
}

// how prints the commands that a query finds, with their runs. If it finds none, it writes how often the words of the
// query occur, and what to try next: the hints in try, all projects, and other words. It then returns an error.
func (c *commands) how(ctx context.Context, q conversations.SearchQuery, try []string) error {
	found, err := c.find(ctx, &q, "")
	if err != nil {
		return err
	}
	for i := range found.Hits {
		h := &found.Hits[i]
		c.out.add(either(i > 0, "\n", "")+c.describeRuns(h), object{
			"command", h.Text, "runs", h.Runs, "failures", h.Failures, "last", timestamp(h.Time), "last_failed", h.Failed,
			"id", h.Conversation.ID, "event", h.Number,
		})
	}
	if len(found.Hits) == 0 && !c.out.json {
		c.explainWords(found.Words, append(try, either(c.allProjects, "", "--all-projects"), "other words")...)
	}
	return foundAny(len(found.Hits) > 0)
}

// describeRuns returns a command, and below it how often it was run, and when and where last.
func (c *commands) describeRuns(h *conversations.Hit) string {
	failures := either(h.Failures == 0, "", fmt.Sprintf(", %d failed", h.Failures))
	runs := text.Count(h.Runs, "run", "runs") + failures + ", last " + c.age(h.Time) + either(h.Failed, " without success", "")
	command := strings.TrimRight(text.Visible(h.Text), "\n") + either(h.After, " …", "")
	return command + "\n" + c.out.style(styleDim, fmt.Sprintf("  %s  %s:%d", runs, h.Conversation.ID, h.Number)) + "\n"
}
