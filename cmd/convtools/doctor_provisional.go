package main

// What the conversation family finds for the doctor, until it does by itself.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/workspace"
)

type conversationChecks struct {
	host *toolset.Host
	cli  contract.CLI
}

func (c conversationChecks) all(ctx context.Context) []toolset.Check {
	w, found := c.workspace()
	checks := []toolset.Check{found}
	if w != nil {
		user := toolset.Check{Name: "user data", Status: toolset.OK, Detail: w.UserStore()}
		if user.Detail == "" {
			user.Status, user.Detail = toolset.Off, "JP keeps nothing about this workspace outside of it"
		}
		checks = append(checks, user)
	}
	return append(checks, c.conversations(ctx, w != nil)...)
}

func (c conversationChecks) workspace() (*workspace.Workspace, toolset.Check) {
	check := toolset.Check{Name: "workspace"}
	w, err := workspace.Open(workspace.Options{Dir: c.host.Dir, Getenv: c.host.Getenv})
	if err != nil {
		check.Status, check.Detail = toolset.Problem, err.Error()
		check.Fix = "change to a project that has a .jp directory, or name one with --workspace DIR"
		var missing *workspace.NotLocatedError
		if errors.As(err, &missing) {
			check.Detail = "none in " + missing.Dir + " or above it"
			if missing.Missing {
				check.Detail = missing.Dir + " does not exist"
			} else {
				check.Instead = &toolset.Check{Name: check.Name, Status: toolset.Off, Detail: check.Detail + ", so there are no conversations to look up"}
			}
		}
		return nil, check
	}
	check.Status, check.Detail = toolset.OK, w.Root()
	if w.ID() != "" {
		check.Detail += " (" + w.ID() + ")"
	}
	return w, check
}

// How long listing all conversations may take. The built-in command line reads
// every one of them and comes to an end by itself; another program may not.
const (
	builtinLimit = 30 * time.Second
	programLimit = 5 * time.Second
)

// namedDamaged is how many damaged conversations are named.
const namedDamaged = 5

// conversations says which command line is in use, counts the conversations with
// it, as the tools do, and names the damaged ones. Without a workspace there is
// nothing to run it on.
func (c conversationChecks) conversations(ctx context.Context, found bool) []toolset.Check {
	cli, program := c.commandLine()
	if !found || cli.Status == toolset.Problem {
		return []toolset.Check{cli}
	}
	limit := builtinLimit
	if program != "" {
		limit = programLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	check := toolset.Check{Name: "conversations", Status: toolset.OK}
	var counts, damaged []string
	for _, set := range []struct{ name, flag string }{{"live", "--archived=false"}, {"archived", "--archived"}} {
		total, broken, err := c.list(ctx, set.flag)
		if err != nil {
			return c.unlisted(cli, program, limit, err)
		}
		counts = append(counts, fmt.Sprintf("%d %s", total, set.name))
		damaged = append(damaged, broken...)
	}
	check.Detail = strings.Join(counts, ", ")
	checks := []toolset.Check{cli, check}
	if len(damaged) == 0 {
		return checks
	}
	shown := damaged[:min(len(damaged), namedDamaged)]
	if more := len(damaged) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return append(checks, toolset.Check{
		Name: "damaged", Status: toolset.Problem, Detail: strings.Join(shown, ", "),
		Fix: "restore them from a backup, or move them out of .jp/conversations",
	})
}

// commandLine says what serves the conversation command line. program is empty
// where that is this program itself.
func (c conversationChecks) commandLine() (check toolset.Check, program string) {
	check = toolset.Check{Name: "command line", Status: toolset.OK, Detail: "built in"}
	cli, _ := generated.LookupCLI(conversation.ListCLI)
	program = strings.TrimSpace(c.host.Getenv(cli.Env))
	if program == "" {
		return check, ""
	}
	check.Detail = fmt.Sprintf("%s (%s)", program, cli.Env)
	words, err := process.SplitCommand(program)
	if err == nil {
		_, err = exec.LookPath(words[0])
	}
	if err != nil {
		check.Status, check.Fix = toolset.Problem, c.correctCLI()
		check.Detail += ": " + err.Error()
	}
	return check, program
}

// correctCLI is what to do about a program that does not serve the command line.
func (c conversationChecks) correctCLI() string {
	cli, _ := generated.LookupCLI(conversation.ListCLI)
	return fmt.Sprintf("try it: %s conversation ls --format=json; correct %s, or unset it to use the built-in one", c.host.Getenv(cli.Env), cli.Env)
}

// unlisted says why there is no list: a program of the user's choice is to blame
// for that itself.
func (c conversationChecks) unlisted(cli toolset.Check, program string, limit time.Duration, err error) []toolset.Check {
	why := err.Error()
	var failure *process.Error
	switch {
	case errors.As(err, &failure) && failure.Kind == process.Timeout:
		why = fmt.Sprintf("conversation ls hangs: it was stopped after %v", limit)
	case errors.As(err, &failure):
		why = failure.Error()
	}
	if program != "" {
		cli.Status, cli.Fix = toolset.Problem, c.correctCLI()
		cli.Detail += ": " + why
		return []toolset.Check{cli}
	}
	return []toolset.Check{cli, {
		Name: "conversations", Status: toolset.Problem, Detail: why,
		Fix: "see what this says: convtools conversation ls --hidden",
	}}
}

// list lists a set of conversations, and returns how many there are and those
// that cannot be read, each with the reason.
func (c conversationChecks) list(ctx context.Context, set string) (total int, damaged []string, err error) {
	args := []string{"conversation", "ls", "--format=json", "--summary", "--hidden", "--limit=0", set}
	stdout, stderr, exit, err := c.cli.RunCLI(ctx, conversation.ListCLI, contract.Context{Dir: c.host.Dir}, args)
	if err != nil {
		return 0, nil, err
	}
	var rows []struct {
		ID      string  `json:"id"`
		Error   *string `json:"error"`
		Summary *struct {
			Total   int `json:"total"`
			Skipped []struct {
				ID     string `json:"id"`
				Reason string `json:"reason"`
			} `json:"skipped"`
		} `json:"summary"`
	}
	if err := json.Unmarshal(stdout, &rows); err != nil || len(rows) == 0 || rows[len(rows)-1].Summary == nil {
		said, _, _ := strings.Cut(strings.TrimSpace(string(stderr)), "\n")
		if said == "" {
			said = "nothing on standard error"
		}
		return 0, nil, fmt.Errorf("conversation ls does not list them in JSON (exit code %d) and says: %s", exit, text.Cut(said, 201))
	}
	for _, row := range rows {
		if row.Error != nil {
			damaged = append(damaged, fmt.Sprintf("%s (%s)", row.ID, *row.Error))
		}
	}
	summary := rows[len(rows)-1].Summary
	for _, s := range summary.Skipped {
		damaged = append(damaged, fmt.Sprintf("%s (%s)", s.ID, s.Reason))
	}
	return summary.Total, damaged, nil
}
