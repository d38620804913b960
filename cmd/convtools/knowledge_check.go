package main

import (
	"bufio"
	"fmt"
	learning "github.com/convtools/convtools/generated/knowledge"
	"github.com/convtools/convtools/runtime/cli"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/knowledge"
)

// checkReport is what knowledge check prints as JSON.
type checkReport struct {
	Findings []knowledge.Finding `json:"findings"`
	Topics   int                 `json:"topics"`
	Errors   int                 `json:"errors"`
	Warnings int                 `json:"warnings"`
	Infos    int                 `json:"infos"`
}

func (a *app) knowledgeCheckCommand() *cobra.Command {
	asJSON, strict := false, false
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Find what is wrong with the knowledge base",
		Long: `Finds what is wrong with the configuration and the files: directories that are
missing, patterns that match nothing, files that cannot be told apart or loaded,
links that lead nowhere, hidden subjects that nothing mentions. Each finding has
its place, a rule and a hint. The exit code is 1 when there is an error, and 0
when there are only warnings, unless --strict says otherwise.`,
		Example: `  convtools knowledge check
  convtools knowledge check --strict   # for CI`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := a.checkKnowledge(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(report)
			} else if report.Topics > 0 || len(report.Findings) > 0 {
				err = report.text(a.host.Stdout)
			}
			if err == nil && (report.Errors > 0 || strict && report.Warnings > 0) {
				err = cli.ErrFailed
			}
			return err
		},
	}
	a.patternFlag(cmd)
	cmd.Flags().BoolVar(&strict, "strict", false, "also exit with 1 when there are only warnings")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}

func (a *app) checkKnowledge(cmd *cobra.Command) (checkReport, error) {
	report := checkReport{Findings: []knowledge.Finding{}}
	b, err := a.openKnowledge()
	var findings []knowledge.Finding
	if err != nil {
		var ok bool
		if findings, ok = knowledge.ConfigFindings(err); !ok || wrongUse(findings) {
			return report, err
		}
	} else {
		if findings, err = b.Check(cmd.Context(), learning.LearnTool()); err != nil {
			return report, err
		}
		report.Topics = len(b.TopicIDs())
		if report.Topics == 0 {
			a.sayHowToBegin(b)
		}
	}
	report.Findings = append(report.Findings, findings...)
	for _, f := range findings {
		switch f.Severity {
		case knowledge.SeverityError:
			report.Errors++
		case knowledge.SeverityWarning:
			report.Warnings++
		default:
			report.Infos++
		}
	}
	return report, nil
}

func (r checkReport) text(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, f := range r.Findings {
		fmt.Fprintln(out, envelope.Sanitize(f.String()))
	}
	if len(r.Findings) > 0 {
		out.WriteByte('\n')
	}
	fmt.Fprintln(out, r.summary())
	return out.Flush()
}

func (r checkReport) summary() string {
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{{r.Errors, "error", "errors"}, {r.Warnings, "warning", "warnings"}, {r.Infos, "remark", "remarks"}} {
		if part.n > 0 {
			parts = append(parts, count(part.n, part.one, part.many))
		}
	}
	where := " in " + count(r.Topics, "topic", "topics")
	if r.Topics == 0 {
		where = "" // there are none, or their configuration cannot be read
	}
	if len(parts) == 0 {
		return "Nothing to complain of" + where + "."
	}
	return strings.Join(parts, ", ") + where + "."
}
