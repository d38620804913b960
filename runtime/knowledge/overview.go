package knowledge

import (
	"context"

	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// Topic is a topic as people see it: with everything in it, hidden and disabled
// subjects too. Its texts are as they were written and on disk: whoever prints
// them has to make them fit for that.
type Topic struct {
	ID           string `json:"id"`
	Title        string `json:"title,omitempty"`
	Introduction string `json:"introduction,omitempty"`
	Description  string `json:"description,omitempty"`
	// Disabled topics are not looked into.
	Disabled bool `json:"disabled,omitempty"`
	// Dir is the directory, relative to the workspace, with slashes.
	Dir string `json:"dir"`
	// Problem says why the directory cannot be read.
	Problem string `json:"problem,omitempty"`
	// Subjects are in the byte order of Slug, then Path.
	Subjects []Subject `json:"subjects"`
	// Warnings are about entries of learned and disabled that match nothing, one
	// sentence each without a period.
	Warnings []string `json:"warnings,omitempty"`
	// LeftOut are links, special files and the like, in the order of their paths.
	LeftOut []subjects.Warning `json:"left_out,omitempty"`
}

// Subject is a file of a topic as people see it.
type Subject struct {
	Name        string `json:"name"` // what it is asked for by, and no other is
	Slug        string `json:"slug"`
	Path        string `json:"path"` // relative to the topic's directory
	Description string `json:"description,omitempty"`
	Size        int64  `json:"size"`   // in bytes
	Tokens      int    `json:"tokens"` // an estimate: a quarter of the bytes; 0 for what cannot be loaded
	Hidden      bool   `json:"hidden,omitempty"`
	Disabled    bool   `json:"disabled,omitempty"`
	Learned     bool   `json:"learned,omitempty"`
	Binary      bool   `json:"binary,omitempty"`
	TooLarge    bool   `json:"too_large,omitempty"`
	Skill       bool   `json:"skill,omitempty"`
	// Problem says why nothing is known of the file.
	Problem string `json:"problem,omitempty"`
}

// Topics returns all topics in the order of the configuration. The error is that
// of the context.
func (b *Base) Topics(ctx context.Context) ([]Topic, error) {
	topics := []Topic{}
	for i := range b.config.Topics {
		t, err := b.overview(ctx, &b.config.Topics[i])
		if err != nil {
			return nil, err
		}
		topics = append(topics, t)
	}
	return topics, nil
}

// Topic returns one topic by its id or its title. A disabled one is found by its
// id.
func (b *Base) Topic(ctx context.Context, topicName string) (Topic, error) {
	for i := range b.config.Topics {
		if t := &b.config.Topics[i]; t.ID == topicName {
			return b.overview(ctx, t)
		}
	}
	config, err := b.lookup(topicName)
	if err != nil {
		return Topic{}, err
	}
	return b.overview(ctx, config)
}

// overview describes one topic. What is wrong with its directory is part of it.
func (b *Base) overview(ctx context.Context, config *kbconfig.Topic) (Topic, error) {
	o := Topic{
		ID: config.ID, Title: config.Title, Introduction: config.Introduction, Description: config.Description,
		Disabled: !config.Enabled, Dir: config.Subjects, Subjects: []Subject{},
	}
	if o.Disabled {
		return o, nil
	}
	t, err := b.scan(ctx, config)
	if ctx.Err() != nil {
		return Topic{}, ctx.Err()
	}
	if err != nil {
		o.Problem = err.Error()
		return o, nil
	}
	defer t.close()
	if err := t.tree.Describe(ctx); err != nil {
		return Topic{}, err
	}
	all := make([]*subjects.Subject, len(t.tree.Subjects))
	for i := range all {
		all[i] = &t.tree.Subjects[i]
	}
	facts, err := t.tree.Facts(ctx, all)
	if err != nil {
		return Topic{}, err
	}
	for i, s := range all {
		f := facts[i]
		subject := Subject{
			Name: s.Name, Slug: s.Slug, Path: s.Path, Description: s.Description,
			Size: f.Size, Tokens: f.Tokens, Binary: f.Binary && !f.TooLarge, TooLarge: f.TooLarge,
			Hidden: s.Hidden, Skill: s.Skill, Disabled: t.set.Disabled(i), Learned: t.set.Learned(i),
		}
		if f.Binary || f.TooLarge {
			subject.Tokens = 0
		}
		if f.Err != nil {
			subject.Problem = cause(f.Err)
		}
		o.Subjects = append(o.Subjects, subject)
	}
	for _, e := range t.deadEntries() {
		o.Warnings = append(o.Warnings, e.warning(t.ID).Message)
	}
	o.LeftOut = t.tree.Warnings
	return o, nil
}

// Show returns what the learn tool would answer to one pattern, with what is in
// the system prompt too.
func (b *Base) Show(ctx context.Context, topicName, pattern string) (string, error) {
	config, err := b.lookup(topicName)
	if err != nil {
		return "", err
	}
	return b.load(ctx, config, []string{pattern}, false, &remarks{})
}
