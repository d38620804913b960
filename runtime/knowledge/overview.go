package knowledge

import (
	"context"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// Topic is a topic for people, with hidden and disabled subjects. Its texts are as they were written and must be made
// visible before they are printed.
type Topic struct {
	ID           string `json:"id"`
	Title        string `json:"title,omitempty"`
	Introduction string `json:"introduction,omitempty"`
	Description  string `json:"description,omitempty"`
	// The subjects of disabled topics are not read.
	Disabled bool `json:"disabled,omitempty"`
	// Dir is the directory relative to the workspace, with slashes; with Outside it is as the user's file has it.
	Dir     string `json:"dir"`
	Outside bool   `json:"-"`
	// Problem is the reason if the directory cannot be read.
	Problem string `json:"problem,omitempty"`
	// Subjects are in the byte order of Slug, then Path.
	Subjects []*subjects.Subject `json:"subjects"`
	// Warnings are sentences, without a period, about entries of learned and disabled that match nothing.
	Warnings []string `json:"warnings,omitempty"`
	// LeftOut are links, special files and others that are no subjects, in the order of their paths.
	LeftOut []subjects.Warning `json:"left_out,omitempty"`
}

// Topics returns all topics, in the order of the configuration. The error is that of the context.
func (b *Base) Topics(ctx context.Context) ([]Topic, error) {
	topics := []Topic{}
	for _, of := range b.usable {
		t, err := b.overview(ctx, of)
		if err != nil {
			return nil, err
		}
		topics = append(topics, t)
	}
	return topics, nil
}

// Topic returns a topic by its id or its title. A disabled topic is found by its id alone.
func (b *Base) Topic(ctx context.Context, name string) (Topic, error) {
	t := byID(b.usable, name)
	if t == nil {
		var err error
		if t, err = b.lookup(name); err != nil {
			return Topic{}, err
		}
	}
	return b.overview(ctx, t)
}

// overview describes a topic. An error of its directory is part of the description.
func (b *Base) overview(ctx context.Context, of *config.Topic) (Topic, error) {
	o := Topic{
		ID: of.ID, Title: of.Title, Introduction: of.Introduction, Description: of.Description,
		Disabled: !of.Enable, Dir: of.Subjects, Outside: of.Outside != "", Subjects: []*subjects.Subject{},
	}
	if o.Disabled {
		return o, nil
	}
	t, err := b.scan(ctx, of)
	if err != nil {
		return Topic{}, err
	}
	defer t.tree.Close()
	if t.broken != nil {
		o.Problem = t.broken.why()
	}
	if err := t.tree.Look(ctx, t.tree.Subjects); err != nil {
		return Topic{}, err
	}
	for _, f := range t.deadEntries("disabled", "learned") {
		o.Warnings = append(o.Warnings, f.Place()+": "+f.Message)
	}
	o.Subjects = append(o.Subjects, t.tree.Subjects...)
	o.LeftOut = t.tree.Warnings
	return o, nil
}
