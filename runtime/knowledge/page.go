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

// page returns the page that shows the knowledge base.
func (f *family) page() toolset.Page {
	return toolset.Page{
		Name: "knowledge", Title: "Knowledge", Show: f.pageItems,
		Empty: "No topic is configured. A topic is a directory of files and a table in convtools.toml: " + f.host.Name + " knowledge ls shows one.",
	}
}

// pageItems returns an item with all findings, and one for each topic; or only the problems of the configuration.
func (f *family) pageItems(ctx context.Context, where contract.Context) (items []toolset.Item, err error) {
	b, err := f.open(where.Dir)
	if findings := ConfigFindings(err); len(findings) > 0 {
		return findingItems(findings), nil
	}
	if err != nil {
		return nil, err
	}
	findings, err := b.Check(ctx)
	if err != nil {
		return nil, err
	}
	topics, err := b.Topics(ctx)
	items = findingItems(findings)
	for _, t := range topics {
		items = append(items, t.item())
	}
	return items, err
}

// findingItems returns one item that has the findings below it, or no item if there is no finding.
func findingItems(findings []Finding) []toolset.Item {
	if len(findings) == 0 {
		return nil
	}
	item := toolset.Item{Title: "What the check finds", State: text.Count(len(findings), "finding", "findings"), Status: toolset.Warning}
	for _, f := range findings {
		child := toolset.Item{Title: f.Message, State: f.Severity.String(), Status: toolset.Warning, Facts: []string{f.Place(), f.Rule}, Text: f.Hint}
		if f.Severity == diag.Error {
			child.Status, item.Status = toolset.Problem, toolset.Problem
		}
		item.Below = append(item.Below, child)
	}
	return []toolset.Item{item}
}

// item returns the item of a topic, which has the topic's subjects below it.
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

// subjectItem returns the item of a subject of the topic with an id. Its URI is the address at which an assistant gets
// the content; a disabled subject has none.
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
