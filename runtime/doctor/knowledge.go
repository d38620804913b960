package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/knowledge"
)

const checkKnowledge = "convtools knowledge check"

// knowledge counts what there is to learn. To have no knowledge base is no problem.
func (c Config) knowledge(ctx context.Context) Check {
	check := Check{Name: "knowledge"}
	base, err := knowledge.Open(c.Dir, knowledge.Options{Getenv: c.Install.Getenv})
	if findings, ok := knowledge.ConfigFindings(err); ok {
		check.Status, check.Fix = Problem, checkKnowledge
		check.Detail = "nothing can be learned: " + firstError(findings)
		return check
	}
	if err != nil {
		check.Status, check.Detail = Off, "there is no workspace to have it"
		return check
	}
	topics, err := base.Topics(ctx)
	if err != nil {
		check.Status, check.Fix = Problem, checkKnowledge
		check.Detail = "looking at it failed: " + err.Error()
		return check
	}
	subjects, enabled := 0, 0
	var unusable []string
	for _, topic := range topics {
		switch {
		case topic.Problem != "":
			enabled++
			unusable = append(unusable, fmt.Sprintf("topic %s cannot be learned: %s", topic.ID, topic.Problem))
		case !topic.Disabled:
			enabled++
			subjects += loadable(topic)
		}
	}
	switch {
	case enabled == 0:
		check.Status, check.Detail = Off, "no topic is configured"
	case len(unusable) > 0:
		check.Status, check.Fix = Problem, checkKnowledge
		check.Detail = strings.Join(unusable, "; ")
	default:
		check.Status, check.Detail = OK, counted(enabled, "topic")+", "+counted(subjects, "subject")
	}
	return check
}

// loadable counts the subjects that an assistant can get, hidden ones too.
func loadable(topic knowledge.Topic) int {
	n := 0
	for _, s := range topic.Subjects {
		if !s.Disabled && !s.Binary && !s.TooLarge && s.Problem == "" {
			n++
		}
	}
	return n
}

// firstError is what a configuration is refused for, and how much more there is.
func firstError(findings []knowledge.Finding) string {
	var text string
	more := -1
	for _, f := range findings {
		if f.Severity != diag.Error {
			continue
		}
		if more++; more == 0 {
			f.Hint = ""
			text = f.String()
		}
	}
	if more > 0 {
		text += ", and " + counted(more, "more error")
	}
	return text
}
