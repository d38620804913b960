package knowledge

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
	"github.com/convtools/convtools/runtime/toolset"
)

const (
	scheme   = "kb://"
	template = scheme + "{topic}/{slug}"
)

// resources are the subjects of all topics, each at its address.
func (f *family) resources() toolset.Resources {
	return toolset.Resources{
		Name:        "knowledge",
		Title:       "Subject of the knowledge base",
		Description: "What people have written down about a topic of this workspace. Read anew each time.",
		Template:    template,
		List:        f.list,
		Read:        f.readAddress,
		Complete: func(ctx context.Context, variable, prefix string, given map[string]string) ([]string, error) {
			return f.arguments(ctx, "", variable, prefix, given), ctx.Err()
		},
	}
}

// list returns a page of the subjects that are listed and can be read, sorted by their names; subjects with the same
// name are one. The cursor is the name of the last subject, so that the next page skips nothing if others are added or
// removed.
//
// It returns none if the configuration is wrong, instead of an error: a client asks for the list when it starts, and
// would take the server for broken. learn returns the error.
func (f *family) list(ctx context.Context, cursor string, limit int) (page []toolset.Resource, next string, err error) {
	b, err := f.open("")
	if err != nil {
		f.host.WarnOnce("the knowledge base cannot be opened: " + err.Error())
		return nil, "", nil
	}
	for t := range b.scans(ctx) {
		if t.broken != nil {
			f.host.WarnOnce(t.broken.Error())
		}
		if err := t.tree.Look(ctx, t.tree.Visible); err != nil {
			return nil, "", err
		}
		for _, s := range t.tree.Visible {
			if name := t.ID + "/" + s.Name; name > cursor && s.Problem == "" && s.Kind == (subjects.Kind{}) {
				page = append(page, toolset.Resource{
					URI: address(t.ID, s.Name), Name: name, Title: title(t.Topic) + ": " + oneLine(s.Name),
					Description: s.Description, MIMEType: mimeType(s.Ext), // the type of the shown text: a text in a fence is Markdown
				})
			}
		}
	}
	slices.SortStableFunc(page, func(a, b toolset.Resource) int { return strings.Compare(a.Name, b.Name) })
	page = slices.CompactFunc(page, func(a, b toolset.Resource) bool { return a.Name == b.Name })
	if len(page) > limit {
		return page[:limit], page[limit-1].Name, nil
	}
	return page, "", ctx.Err()
}

func mimeType(ext string) string {
	switch ext {
	case "", "txt", "text":
		return "text/plain"
	}
	return "text/markdown"
}

// readAddress returns a subject as it is now.
func (f *family) readAddress(ctx context.Context, where contract.Context, uri string) (toolset.Contents, error) {
	topic, subject, ok := parseAddress(uri)
	if !ok {
		return toolset.Contents{}, &toolset.NotFoundError{
			URI: uri, Reason: "An address is " + template + ", with what resources/list or learn show, percent-encoded.",
		}
	}
	b, err := f.open(where.Dir)
	if err != nil {
		return toolset.Contents{}, &contract.Error{
			Message: "The knowledge base cannot be read until its configuration is corrected. The user can see what is wrong with: convtools knowledge check",
			Err:     err,
		}
	}
	text, mime, err := b.ReadResource(ctx, topic, subject)
	var failure *contract.Error
	if errors.As(err, &failure) && failure.Caller {
		err = &toolset.NotFoundError{URI: uri, Reason: failure.Message}
	}
	return toolset.Contents{Text: text, MIMEType: mime}, err
}

// ReadResource returns the subjects with a name, by the id of their topic, and the type of the text. It reads hidden
// subjects too. The name is not taken for a pattern, and the id not for a title. The content of a subject that cannot
// be shown says why. The error is a [contract.Error] if there is no such subject.
func (b *Base) ReadResource(ctx context.Context, id, subject string) (content, mime string, err error) {
	config := byID(b.topics, id)
	if config == nil {
		return "", "", b.unknownTopic(id)
	}
	t, err := b.open(ctx, config)
	if err != nil {
		return "", "", err
	}
	defer t.tree.Close()
	found, err := t.tree.Resolve([]string{subject}, false)
	if err != nil {
		return "", "", err
	}
	named := func(s *subjects.Subject) bool { return s.Name == subject || s.Slug == subject }
	if len(found.Hits) > 0 && !found.Literal && !slices.ContainsFunc(found.Hits, named) {
		return "", "", contract.Fixable(fmt.Sprintf("Topic %s has no subject %s.", text.Quote(id), text.Quote(subject)))
	}
	if content, err = t.load(ctx, []string{subject}, false, &remarks{}); err != nil {
		return "", "", err
	}
	return content, mimeType(found.Hits[0].Ext), nil
}

// address returns the address of a subject. Slashes in names stay what they are,
// everything else that means something in a URI is encoded:
// https://www.rfc-editor.org/rfc/rfc3986#section-3.3
func address(topic, name string) string {
	return scheme + topic + "/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
}

// parseAddress returns the topic and the subject of an address. Some clients encode slashes when they fill in the
// template.
func parseAddress(uri string) (topic, name string, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	before, behind, _ := strings.Cut(rest, "/")
	topic, topicErr := url.PathUnescape(before)
	name, nameErr := url.PathUnescape(behind)
	ok = ok && topicErr == nil && nameErr == nil && topic != "" && name != ""
	return topic, name, ok && utf8.ValidString(topic+name)
}

// CompleteTopic returns the ids of the topics whose id or title begins with prefix, in any case.
func (b *Base) CompleteTopic(_ context.Context, prefix string) (ids []string) {
	for _, t := range b.topics {
		if hasPrefixFold(t.ID, prefix) || hasPrefixFold(t.Title, prefix) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// CompletePath completes TOPIC/SLUG: a prefix without a slash to the ids of topics, each with a slash after it, and one
// with a slash to listed subjects, in any case. It returns none for a topic that does not exist or cannot be read.
func (b *Base) CompletePath(ctx context.Context, prefix string) (paths []string) {
	id, slug, ok := strings.Cut(prefix, "/")
	if !ok {
		for _, id := range b.CompleteTopic(ctx, prefix) {
			paths = append(paths, id+"/")
		}
		return paths
	}
	config, err := b.lookup(id)
	if err != nil {
		return nil
	}
	t, err := b.scan(ctx, config)
	if err != nil {
		return nil
	}
	defer t.tree.Close()
	for _, s := range t.tree.Visible {
		if hasPrefixFold(s.Name, slug) {
			paths = append(paths, id+"/"+s.Name)
		}
	}
	return paths
}

// hasPrefixFold reports whether s begins with prefix, by the lower case of both. Lower case may be longer or shorter.
func hasPrefixFold(s, prefix string) bool {
	return strings.HasPrefix(strings.ToLower(s), strings.ToLower(prefix))
}
