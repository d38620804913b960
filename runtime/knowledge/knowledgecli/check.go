package knowledgecli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/knowledge"
)

// report is the JSON of knowledge check.
type report struct {
	Findings []knowledge.Finding `json:"findings"`
	Topics   int                 `json:"topics"`
	Errors   int                 `json:"errors"`
	Warnings int                 `json:"warnings"`
}

func (c *commands) check() *cobra.Command {
	asJSON, strict := false, false
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Find what is wrong with the knowledge base",
		Long: `Finds what is wrong with the configuration and the files: directories that are
missing, patterns that match nothing, files that cannot be told apart or loaded,
links that lead nowhere. Each finding has
its place, a rule and a hint. The exit code is 1 when there is an error, and 0
when there are only warnings, unless --strict says otherwise.`,
		Example: `  convtools knowledge check
  convtools knowledge check --strict   # for CI`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := c.examine(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				err = cli.PrintJSON(c.host.Stdout, c.host.Terminal, r)
			} else if r.Topics > 0 || len(r.Findings) > 0 {
				err = r.print(c.host.Stdout)
			}
			if err == nil && (r.Errors > 0 || strict && r.Warnings > 0) {
				err = cli.ErrFailed
			}
			return err
		},
	}
	c.patternFlag(cmd)
	cmd.Flags().BoolVar(&strict, "strict", false, "also exit with 1 when there are only warnings")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}

// examine returns the report about the knowledge base, with errors in configuration files as findings. Without such
// errors, it returns any other error of opening the knowledge base, as for a wrong flag. If there is no topic, examine
// prints how to begin to standard error.
func (c *commands) examine(ctx context.Context) (report, error) {
	r := report{Findings: []knowledge.Finding{}}
	b, err := c.open()
	findings := knowledge.ConfigFindings(err)
	isInFile := func(f knowledge.Finding) bool { return f.Severity == diag.Error && f.File != "-k" } // -k is the flag
	hasFileErrors := slices.ContainsFunc(findings, isInFile)
	switch {
	case hasFileErrors: // findings has them
	case err != nil:
		return r, err
	default:
		if findings, err = b.Check(ctx); err != nil {
			return r, err
		}
		if r.Topics = len(b.TopicIDs()); r.Topics == 0 {
			c.sayHowToBegin(b)
		}
	}
	r.Findings = append(r.Findings, findings...)
	for _, f := range findings {
		if f.Severity == diag.Error {
			r.Errors++
		} else {
			r.Warnings++
		}
	}
	return r, nil
}

// print writes the findings with their hints, and the summary.
func (r report) print(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, f := range r.Findings {
		fmt.Fprintln(out, f.String())
		if f.Hint != "" {
			fmt.Fprintln(out, "  hint: "+text.Line(f.Hint))
		}
	}
	if len(r.Findings) > 0 {
		out.WriteByte('\n')
	}
	fmt.Fprintln(out, r.summary())
	return out.Flush()
}

// summary returns a sentence with the numbers of errors and warnings.
func (r report) summary() string {
	var parts []string
	if r.Errors > 0 {
		parts = append(parts, text.Count(r.Errors, "error", "errors"))
	}
	if r.Warnings > 0 {
		parts = append(parts, text.Count(r.Warnings, "warning", "warnings"))
	}
	where := ""
	if r.Topics > 0 { // otherwise there is no topic, or the configuration cannot be used
		where = " in " + text.Count(r.Topics, "topic", "topics")
	}
	return cmp.Or(strings.Join(parts, ", "), "Nothing to complain of") + where + "."
}
