package knowledge

import (
	"context"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// TopicResources returns the subjects of a topic, by its id, that can be listed
// and read, those that share a name once. The warnings are about a directory that
// cannot be read; the error is that of the context. Topics that are not among
// [Base.TopicIDs] have none.
func (b *Base) TopicResources(ctx context.Context, id string) ([]toolset.Resource, []Warning, error) {
	config := b.byID(id)
	if config == nil {
		return nil, nil, nil
	}
	t, err := b.scan(ctx, config)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		return nil, []Warning{{config.ID, err.Error()}}, nil
	}
	defer t.close()
	if err := t.tree.Describe(ctx); err != nil {
		return nil, nil, err
	}
	facts, err := t.facts(ctx, t.set.Visible())
	if err != nil {
		return nil, nil, err
	}
	var resources []toolset.Resource
	listed := map[string]bool{}
	for _, i := range t.set.Visible() {
		s := &t.tree.Subjects[i]
		if f := facts[i]; f.Binary || f.TooLarge || f.Err != nil || listed[s.Name] {
			continue
		}
		listed[s.Name] = true
		resources = append(resources, toolset.Resource{
			URI: address(t.ID, s.Name), Name: t.ID + "/" + s.Name, Title: name(t.Topic) + ": " + oneLine(s.Name),
			Description: s.Description, MIMEType: mimeType(s.Ext), // of what is shown, which is Markdown where it is in a fence
		})
	}
	return resources, nil, nil
}

func mimeType(ext string) string {
	switch ext {
	case "", "txt", "text":
		return "text/plain"
	}
	return "text/markdown"
}

// ReadResource returns one subject by the id of its topic and its name, with those
// that share the name, and the type of the text. Hidden subjects can be read,
// patterns and titles mean nothing. That there is no such subject, and that it
// cannot be shown, is a [contract.Error] of the caller's.
func (b *Base) ReadResource(ctx context.Context, id, subject string) (text, mime string, err error) {
	config := b.byID(id)
	if config == nil {
		return "", "", b.unknownTopic(id, b.enabled())
	}
	t, err := b.scan(ctx, config)
	if err != nil {
		return "", "", forCaller(err)
	}
	defer t.close()
	return t.readResource(ctx, subject)
}

func (t *topic) readResource(ctx context.Context, subject string) (content, mime string, err error) {
	found, err := t.set.Resolve(ctx, []string{subject}, false)
	if err != nil {
		return "", "", err
	}
	together := len(found.Hits) > 1 && !slices.ContainsFunc(found.Hits, func(i int) bool { return t.tree.Subjects[i].Name != subject })
	if !together && len(found.Hits) > 1 && !strings.ContainsAny(subject, "*?[{") {
		names := t.names(found.Hits)
		return "", "", contract.Fixable("Topic " + text.Quote(t.ID) + " has several subjects that " + text.Quote(subject) + " is the name of. Read one of them: " + anyOf(names[:within(names, maxNames, maxNamesBytes)]) + ".")
	}
	if !together && !found.Literal {
		return "", "", contract.Fixable("Topic " + text.Quote(t.ID) + " has no single subject " + text.Quote(subject) + ".")
	}
	var r remarks
	content, err = t.read(ctx, found.Hits, !together, &r)
	if err == nil && content != "" {
		r.skills(t, found.Hits, maxAnswer-len(content)-len("\n\n")-len(r.String()))
	}
	switch {
	case err != nil:
		return "", "", err
	case content == "":
		return "", "", contract.Fixable(r.String())
	case !r.empty():
		content += "\n\n" + r.String()
	}
	return content, mimeType(t.tree.Subjects[found.Hits[0]].Ext), nil
}

// CompleteTopic returns the ids of topics that begin with prefix, and behind them
// those whose title does. Case does not count.
func (b *Base) CompleteTopic(prefix string) []string {
	var byID, byTitle []string
	for _, t := range b.enabled() {
		switch {
		case hasPrefixFold(t.ID, prefix):
			byID = append(byID, t.ID)
		case hasPrefixFold(t.Title, prefix):
			byTitle = append(byTitle, t.ID)
		}
	}
	return append(byID, byTitle...)
}

// CompleteSubject returns the names of listed subjects that begin with prefix.
// Case does not count. A topic that does not exist, or whose directory cannot be
// read, has none; the error is that of the context.
func (b *Base) CompleteSubject(ctx context.Context, topicName, prefix string) ([]string, error) {
	config, err := b.lookup(topicName)
	if err != nil {
		return nil, nil
	}
	t, err := b.scan(ctx, config)
	if err != nil {
		return nil, ctx.Err()
	}
	defer t.close()
	var names []string
	for _, i := range t.set.Visible() {
		if s := &t.tree.Subjects[i]; hasPrefixFold(s.Name, prefix) {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// CompletePath returns what TOPIC/SLUG may stand for that begins with prefix: as long
// as there is no slash in it, the ids of topics, each with a slash behind it.
func (b *Base) CompletePath(ctx context.Context, prefix string) []string {
	var paths []string
	id, slug, ok := strings.Cut(prefix, "/")
	if !ok {
		for _, id := range b.CompleteTopic(prefix) {
			paths = append(paths, id+"/")
		}
		return paths
	}
	names, _ := b.CompleteSubject(ctx, id, slug) // The error is the context's.
	for _, name := range names {
		paths = append(paths, id+"/"+name)
	}
	return paths
}

// hasPrefixFold compares letters by their lower case, which may be longer or
// shorter than they are.
func hasPrefixFold(s, prefix string) bool {
	return strings.HasPrefix(strings.ToLower(s), strings.ToLower(prefix))
}
