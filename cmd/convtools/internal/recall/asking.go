package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking is what answers questions about one workspace: an MCP server of
// convtools, and its peers.
type asking struct {
	tools *mcp.ClientSession
	shell *shell // nil without ripgrep
	lines *lines
}

// open starts what answers questions about the workspace in a directory. What
// peers need is written into scratch.
func open(ctx context.Context, convtools, workspace, scratch string) (*asking, error) {
	if err := os.MkdirAll(filepath.Join(scratch, "data"), 0o700); err != nil {
		return nil, fmt.Errorf("making a directory: %w", err)
	}
	// Nobody's own conversations are searched along.
	env := append(os.Environ(), "JP_USER_DATA_DIR="+filepath.Join(scratch, "data"))
	recorded, err := decode(workspace)
	if err != nil {
		return nil, err
	}
	a := &asking{lines: &lines{convtools: convtools, workspace: workspace, env: env, recorded: recorded}}
	if ripgrep, err := exec.LookPath("rg"); err == nil {
		if a.shell, err = newShell(ripgrep, workspace, filepath.Join(scratch, "decoded"), recorded); err != nil {
			return nil, err
		}
	}
	server := exec.Command(convtools, "mcp", "--workspace", workspace) //nolint:forbidigo,gosec // the program that it built itself
	server.Env = env
	client := mcp.NewClient(&mcp.Implementation{Name: "recall", Version: "1"}, nil)
	a.tools, err = client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting to convtools: %w", err)
	}
	return a, nil
}

func (a *asking) close() error { return a.tools.Close() }

// cost is what it took until the answer of a question was in view.
type cost struct {
	calls, chars int
	found        bool
}

// asked is a question that was asked.
type asked struct {
	question
	cost
	why   string // it failed
	made  []made
	shell cost
	lines cost
	// Of what is read, and of searches, as they were made and again with context.
	read, grep, grepAround share
}

// made is a call that was made.
type made struct{ call, answer string }

// share counts the characters of answers, and those of them that are markup.
type share struct{ markup, all int }

func (s *share) add(of share) { s.markup, s.all = s.markup+of.markup, s.all+of.all }

// linesAround is how many lines of context a search asks for that is made once more,
// to see how much of such an answer is markup. It costs a question nothing.
const linesAround = 2

// askedSet is a set of questions that were asked.
type askedSet struct {
	questionSet
	asked   []asked
	learned cost // what a shell takes to learn how conversations are kept
	shell   bool // it was measured
}

// ask asks all questions of a set.
func (a *asking) ask(ctx context.Context, set questionSet) (askedSet, error) {
	result := askedSet{questionSet: set, shell: a.shell != nil}
	if a.shell != nil {
		result.learned = a.shell.learned
	}
	for _, q := range set.Questions {
		one := asked{question: q}
		if err := a.answer(ctx, &one); err != nil {
			return result, fmt.Errorf("%q: %w", q.Asked, err)
		}
		var err error
		if a.shell != nil {
			if one.shell, err = a.shell.find(ctx, q); err != nil {
				return result, fmt.Errorf("%q, with a shell: %w", q.Asked, err)
			}
		}
		if one.lines, err = a.lines.find(ctx, q); err != nil {
			return result, fmt.Errorf("%q, with conversation grep: %w", q.Asked, err)
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
		switch root.name {
		case "conversation_read":
			q.read.add(markupOf(answer, root))
		case "conversation_grep":
			q.grep.add(markupOf(answer, root))
			arguments["context"] = linesAround
			around, root, err := a.call(ctx, tool, arguments)
			if err != nil {
				return err
			}
			q.grepAround.add(markupOf(around, root))
		}
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
	result, err := a.tools.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", nil, fmt.Errorf("calling %s: %w", tool, err)
	}
	answer, err := textOf(result)
	if err != nil {
		return "", nil, fmt.Errorf("calling %s: %w", tool, err)
	}
	if result.IsError {
		return answer, parseRefusal(answer), nil
	}
	root, err := parseAnswer(answer)
	if err != nil {
		return "", nil, fmt.Errorf("%s %v: %w", tool, arguments, err)
	}
	return answer, root, nil
}

func markupOf(answer string, root *element) share {
	all := utf8.RuneCountInString(answer)
	return share{markup: all - root.body(), all: all}
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

func textOf(result *mcp.CallToolResult) (string, error) {
	var b strings.Builder
	for _, content := range result.Content {
		part, ok := content.(*mcp.TextContent)
		if !ok {
			return "", errors.New("the answer is no text")
		}
		b.WriteString(part.Text)
	}
	return b.String(), nil
}
