package knowledge

import (
	"context"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// Topic is a topic for people, with hidden and disabled subjects. Its texts must be made visible before they are shown.
type Topic struct {
	ID           string `json:"id"`
	Title        string `json:"title,omitempty"`
	Introduction string `json:"introduction,omitempty"`
	Description  string `json:"description,omitempty"`
	Disabled     bool   `json:"disabled,omitempty"` // by the configuration; Subjects is then empty
	// Dir is the directory relative to the workspace, with slashes; with Outside, it is as the user's file names it.
	Dir      string              `json:"dir"`
	Outside  bool                `json:"-"`
	Problem  string              `json:"problem,omitempty"`  // why the directory cannot be read, or empty
	Subjects []*subjects.Subject `json:"subjects"`           // in the byte order of Slug, then Path
	Warnings []string            `json:"warnings,omitempty"` // sentences, without a period, about entries of learned and disabled that match nothing
	LeftOut  []subjects.Warning  `json:"left_out,omitempty"` // files and links in the directory that are no subjects, in the order of their paths
}

// Topics returns the topics without errors in their configuration, also disabled ones, in the order of the
// configuration. The error is that of the context.
func (b *Base) Topics(ctx context.Context) ([]Topic, error) {
	topics := []Topic{}
	for _, configured := range b.usable {
		t, err := b.overview(ctx, configured)
		if err != nil {
			return nil, err
		}
		topics = append(topics, t)
	}
	return topics, nil
}

// Topic returns the topic with an id, or the enabled topic with a title. The error is that of [Base.unknownTopic], or
// of the context.
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

// overview returns the Topic for a topic of the configuration. If the directory cannot be read, Problem of the result
// says why, and the result has no subjects. The error is that of the context.
func (b *Base) overview(ctx context.Context, configured *config.Topic) (Topic, error) {
	o := Topic{
		ID: configured.ID, Title: configured.Title, Introduction: configured.Introduction, Description: configured.Description,
		Disabled: !configured.Enable, Dir: configured.Subjects, Outside: configured.Outside != "", Subjects: []*subjects.Subject{},
	}
	if o.Disabled {
		return o, nil
	}
	t, err := b.scan(ctx, configured)
	if err != nil {
		return Topic{}, err
	}
	defer t.tree.Close()
	if t.broken != nil {
		o.Problem = t.broken.why() // the tree is empty then
	}
	if err := t.tree.Look(ctx, t.tree.Subjects); err != nil {
		return Topic{}, err
	}
	for _, f := range t.deadEntries("disabled", "learned") { // the entries of these two lists that match nothing
		o.Warnings = append(o.Warnings, f.Place()+": "+f.Message)
	}
	o.Subjects = append(o.Subjects, t.tree.Subjects...)
	o.LeftOut = t.tree.Warnings
	return o, nil
}
