// Package command gets conversations from an external conversation command line,
// such as another version of this program. It is the only place with such a
// program's arguments, its JSON and its words.
//
// It never lets a query or what is recorded choose the program or become a flag
// of it, and never searches what the program says for a meaning: of a run that
// fails only the exit code counts. What is printed is checked before anybody sees
// it, and bounded.
package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/transcript"
)

// Limits on what a program may use.
const (
	timeout   = 60 * time.Second
	maxStdout = 64 << 20 // bytes of one run
	maxRuns   = 2        // at one time: each holds what it prints
	maxSaid   = 2000     // characters of standard error that an error repeats
)

// Call is how the program is called for one query.
type Call struct {
	Args []string            // behind the program and its first words
	OK   func(exit int) bool // reports whether records come with an exit code
}

// Config says which program it is and how it is called.
type Config struct {
	// Line is the program and its first words, quoted as in a shell.
	Line string
	// Setting is the environment variable that Line was read from, if any.
	Setting string
	Runner  process.Runner
	// List, Search and Read return the call for a query. An error that wraps
	// [conversations.ErrUnsupported] is for what the program has no flag for. The
	// ids in a query are ids when they come here.
	List   func(conversations.ListQuery) (Call, error)
	Search func(conversations.SearchQuery) (Call, error)
	Read   func(conversations.ReadQuery) (Call, error)
}

// Program is a configured program. It is safe for concurrent use. A process should
// have one of each: how many runs there are at one time is bounded.
type Program struct {
	config Config
	runs   chan struct{} // holds an element for each
}

// New returns the program that config names.
func New(config Config) *Program {
	return &Program{config: config, runs: make(chan struct{}, maxRuns)}
}

// In returns the conversations that the program finds when it is run in dir. Empty
// stands for the working directory.
func (p *Program) In(dir string) conversations.Source { return source{p, dir} }

type source struct {
	*Program
	dir string
}

// isJP reports whether a program is JP itself, which has the same commands, and not
// yet all of what is asked of them.
func isJP(program string) bool {
	base := program[strings.LastIndexAny(program, `/\`)+1:]
	return strings.EqualFold(strings.TrimSuffix(base, ".exe"), "jp")
}

// exitUsage is the exit code of jp for flags that it does not know.
const exitUsage = 2

// run runs the program and returns what it printed. part is what it is asked for.
func (s source) run(ctx context.Context, call Call, part string) (output, error) {
	words, err := process.SplitCommand(s.config.Line)
	if err != nil {
		return output{}, &conversations.UnavailableError{Setting: s.config.Setting, Err: err}
	}
	select {
	case s.runs <- struct{}{}:
		defer func() { <-s.runs }()
	case <-ctx.Done():
		return output{}, ctx.Err()
	}
	result, err := s.config.Runner.Run(ctx, process.Command{
		Path:   words[0],
		Args:   append(words[1:len(words):len(words)], call.Args...),
		Dir:    s.dir,
		Env:    process.DefaultEnv("JP_*"),
		Limits: process.Limits{Timeout: timeout, Stdout: maxStdout},
	})
	failure := conversations.UnavailableError{Program: words[0], Setting: s.config.Setting, Err: err}
	if err != nil {
		var e *process.Error
		if errors.As(err, &e) {
			failure.Said = said(e.Stderr)
			failure.Transient = e.Kind == process.Timeout || e.Kind == process.Canceled
		}
		return output{}, &failure
	}
	failure.Said = said(result.Stderr)
	if !call.OK(result.ExitCode) {
		failure.Exit = result.ExitCode
		if failure.Exit == exitUsage && isJP(words[0]) {
			failure.Lacks = conversations.ContractPart{Command: part, Flags: true}
		}
		return output{}, &failure
	}
	if isJP(words[0]) {
		failure.Lacks.Command = part
	}
	return output{result.Stdout, result.ExitCode, failure}, nil
}

// said makes what a program wrote to standard error safe to show.
func said(stderr []byte) string {
	return strings.TrimSpace(text.Visible(text.CutMiddle(string(stderr), maxSaid)))
}

// checkIDs demands that these are ids, so that none can be a flag of the program,
// or a name that has a meaning to it, such as "-".
func checkIDs(ids ...string) error {
	var bad []error
	for _, id := range ids {
		if _, err := conversations.ParseID(id); err != nil {
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

// errNoID refuses a record whose id could not be used in another query.
var errNoID = errors.New("its id is not the id of a conversation")

// recordID reads the id of a record.
func recordID(spelled string) (transcript.ID, error) {
	id, err := conversations.ParseID(spelled)
	if err != nil {
		return id, errNoID
	}
	return id, nil
}

// problem is one element of the list "skipped" of a summary.
type problem struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// maxReason is how many characters of a reason are kept.
const maxReason = 300

// reported is a problem that the program has words for. They may repeat what is
// recorded, and are for people.
func reported(id transcript.ID, reason string) *conversations.Problem {
	return &conversations.Problem{ID: id, Kind: conversations.Reported, Err: errors.New(text.Line(text.CutMiddle(reason, maxReason)))}
}

func aside(excluded []string, skipped []problem) conversations.Aside {
	var a conversations.Aside
	for _, spelled := range excluded {
		if id, err := conversations.ParseID(spelled); err == nil {
			a.Excluded = append(a.Excluded, id)
		}
	}
	for _, p := range skipped {
		id, err := conversations.ParseID(p.ID)
		if err != nil {
			id = ""
		}
		a.Problems = append(a.Problems, *reported(id, p.Reason))
	}
	return a
}

// call asks for the call of a query, once the ids in it are ids.
func call[Q any](build func(Q) (Call, error), q Q, ids ...string) (Call, error) {
	if err := checkIDs(ids...); err != nil {
		return Call{}, err
	}
	if build == nil {
		return Call{}, conversations.ErrUnsupported
	}
	c, err := build(q)
	if err != nil {
		return Call{}, fmt.Errorf("calling the conversation command line: %w", err)
	}
	return c, nil
}

// Rank implements [conversations.Source]: no command line ranks what it finds.
func (s source) Rank(context.Context, conversations.RankQuery) (conversations.Ranking, error) {
	return conversations.Ranking{}, &conversations.UnavailableError{Setting: s.config.Setting, Err: conversations.ErrUnsupported}
}
