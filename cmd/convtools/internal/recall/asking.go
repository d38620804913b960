package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking is an MCP server of convtools over one project.
type asking struct{ *mcp.ClientSession }

// open starts a server over a project, in which nobody's own conversations are found.
func open(ctx context.Context, convtools, project, home string) (*asking, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("making a directory: %w", err)
	}
	server := exec.Command(convtools, "mcp", "--workspace", project) //nolint:forbidigo,gosec // the program that it built itself
	server.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"),
		"XDG_DATA_HOME="+filepath.Join(home, "data"), "XDG_CONFIG_HOME="+filepath.Join(home, "config"),
		"CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "JP_USER_DATA_DIR="+filepath.Join(home, "jp"))
	client := mcp.NewClient(&mcp.Implementation{Name: "recall", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting to convtools: %w", err)
	}
	return &asking{session}, nil
}

// text calls a tool and returns the text of its answer, or of its refusal.
func (a *asking) text(ctx context.Context, tool string, arguments map[string]any) (answer string, refused bool, err error) {
	result, err := a.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", false, fmt.Errorf("calling %s: %w", tool, err)
	}
	var b strings.Builder
	for _, content := range result.Content {
		part, ok := content.(*mcp.TextContent)
		if !ok {
			return "", false, fmt.Errorf("calling %s: the answer is no text", tool)
		}
		b.WriteString(part.Text)
	}
	return b.String(), result.IsError, nil
}

// asked is a question that was asked.
type asked struct {
	question
	calls, chars int // until the answer was in view
	found        bool
	why          string // it failed
	made         []made
}

// made is a call that was made.
type made struct{ call, answer string }

// askedSet is a set of questions that were asked.
type askedSet struct {
	questionSet
	asked []asked
}

// ask asks all questions of a set.
func (a *asking) ask(ctx context.Context, set questionSet) (askedSet, error) {
	result := askedSet{questionSet: set}
	for _, q := range set.Questions {
		one := asked{question: q}
		if err := a.answer(ctx, &one); err != nil {
			return result, fmt.Errorf("%q: %w", q.Asked, err)
		}
		result.asked = append(result.asked, one)
	}
	return result, nil
}

// answer makes the calls of a question, in order, until its answers are in view.
func (a *asking) answer(ctx context.Context, q *asked) error {
	var seen []*element
	missing := q.Answers
	for _, c := range q.Calls {
		arguments, err := c.form(seen)
		if err != nil {
			q.why = err.Error()
			return nil
		}
		tool, _ := c.tool()
		answer, root, err := a.call(ctx, tool, arguments)
		if err != nil {
			return err
		}
		q.calls++
		q.chars += utf8.RuneCountInString(answer)
		written, err := json.Marshal(arguments)
		if err != nil {
			return fmt.Errorf("writing the arguments of %s: %w", tool, err)
		}
		q.made = append(q.made, made{call: tool + " " + string(written), answer: answer})
		seen = append(seen, root)
		missing = notShown(missing, root)
		if q.found = len(missing) == 0 && (len(q.Answers) > 0 || root.showsNothing()); q.found {
			return nil
		}
	}
	q.why = "no answer shows that there is nothing"
	if len(missing) > 0 {
		q.why = fmt.Sprintf("%q of %s was never in view", missing[0].Says, missing[0].In)
	}
	return nil
}

// call calls a tool, which may refuse.
func (a *asking) call(ctx context.Context, tool string, arguments map[string]any) (string, *element, error) {
	answer, refused, err := a.text(ctx, tool, arguments)
	if err != nil {
		return "", nil, err
	}
	if refused {
		return answer, parseRefusal(answer), nil
	}
	root, err := parseAnswer(answer)
	if err != nil {
		return "", nil, fmt.Errorf("%s %v: %w", tool, arguments, err)
	}
	return answer, root, nil
}

// notShown returns the sentences that an answer does not show.
func notShown(sentences []sentence, answer *element) []sentence {
	var missing []sentence
	for _, s := range sentences {
		if !answer.shows(s) {
			missing = append(missing, s)
		}
	}
	return missing
}
