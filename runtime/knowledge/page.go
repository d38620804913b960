package knowledge

import (
	"cmp"
	"context"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
	"github.com/convtools/convtools/runtime/toolset"
)

// page returns the page of topics, their subjects, and what is wrong with them.
func (f *family) page() toolset.Page {
	return toolset.Page{
		Name: "knowledge", Title: "Knowledge", Show: f.shown,
		Empty: "No topic is configured. A topic is a directory of files and a table in convtools.toml: " + f.host.Name + " knowledge ls shows one.",
	}
}

// shown returns the findings of [Base.Check] below one item, then the topics, each with its subjects.
func (f *family) shown(ctx context.Context, where contract.Context) (items []toolset.Item, err error) {
	b, err := f.open(where.Dir)
	if wrong := ConfigFindings(err); len(wrong) > 0 {
		return findings(wrong), nil
	}
	if err != nil {
		return nil, err
	}
	found, err := b.Check(ctx)
	if err != nil {
		return nil, err
	}
	topics, err := b.Topics(ctx)
	items = findings(found)
	for _, t := range topics {
		items = append(items, t.item())
	}
	return items, err
}

// findings returns an item with the findings below it; none if there is no finding.
func findings(found []Finding) []toolset.Item {
	if len(found) == 0 {
		return nil
	}
	item := toolset.Item{Title: "What the check finds", State: text.Count(len(found), "finding", "findings"), Status: toolset.Warning}
	for _, f := range found {
		below := toolset.Item{Title: f.Message, State: f.Severity.String(), Status: toolset.Warning, Facts: []string{f.Place(), f.Rule}, Text: f.Hint}
		if f.Severity == diag.Error {
			below.Status, item.Status = toolset.Problem, toolset.Problem
		}
		item.Below = append(item.Below, below)
	}
	return []toolset.Item{item}
}

// item returns a topic with its subjects.
func (t *Topic) item() toolset.Item {
	item := toolset.Item{Title: cmp.Or(t.Title, t.ID), Text: cmp.Or(t.Introduction, t.Description), Facts: []string{t.ID, text.Count(len(t.Subjects), "subject", "subjects")}}
	switch {
	case t.Disabled:
		item.State, item.Status = "disabled", toolset.Off
	case t.Problem != "":
		item.State, item.Status, item.Text = "cannot be read", toolset.Problem, t.Problem
	}
	for _, s := range t.Subjects {
		item.Below = append(item.Below, subjectItem(t.ID, s))
	}
	return item
}

// subjectItem returns a subject, whose content an assistant gets from its address.
func subjectItem(topic string, s *subjects.Subject) toolset.Item {
	item := toolset.Item{Title: s.Name, Text: s.Description, Status: toolset.OK}
	switch {
	case s.Disabled:
		item.State, item.Status = "disabled", toolset.Off
		return item
	case s.Problem != "":
		item.State, item.Status, item.Text = "cannot be read", toolset.Problem, s.Problem
	case s.Learned:
		item.State = "always known"
	case s.Hidden:
		item.State, item.Status = "hidden", toolset.Off
	}
	item.URI = address(topic, s.Name)
	return item
}
