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

// list returns at most limit visible subjects that can be shown, sorted by their names; subjects with the same name are
// one resource. The page begins after the name in cursor, and next is the cursor for the next page, or "". A cursor is
// a name, so that the next page skips nothing if subjects are added or removed meanwhile.
//
// If the configuration is wrong, list returns nothing instead of an error: a client asks for the list when it starts,
// and would take the server for broken. The tool learn returns the error.
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
			isShowable := s.Problem == "" && s.Kind == (subjects.Kind{})
			if name := t.ID + "/" + s.Name; name > cursor && isShowable {
				page = append(page, toolset.Resource{
					URI: address(t.ID, s.Name), Name: name, Title: title(t.Topic) + ": " + oneLine(s.Name),
					Description: s.Description, MIMEType: mimeType(s.Ext),
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

// mimeType returns the type of the shown text of a file with an extension. A text in a fence is Markdown.
func mimeType(ext string) string {
	if slices.Contains([]string{"", "txt", "text"}, ext) {
		return "text/plain"
	}
	return "text/markdown"
}

// readAddress returns the present content of the subject with an address. An unknown one is a [toolset.NotFoundError].
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
	if failure, ok := errors.AsType[*contract.Error](err); ok && failure.Caller {
		err = &toolset.NotFoundError{URI: uri, Reason: failure.Message}
	}
	return toolset.Contents{Text: text, MIMEType: mime}, err
}

// ReadResource returns the content of the subjects with a name in the topic with an id, and the type of the content. It
// reads hidden subjects too. A title in place of the id, or a glob in place of the name, is an error. The content of a
// subject that cannot be shown says why. The error is a [contract.Error] if there is no such topic or subject.
func (b *Base) ReadResource(ctx context.Context, id, subject string) (content, mime string, err error) {
	configured := byID(b.topics, id)
	if configured == nil {
		return "", "", b.unknownTopic(id)
	}
	t, err := b.scanReadable(ctx, configured)
	if err != nil {
		return "", "", err
	}
	defer t.tree.Close()
	result, err := t.tree.Resolve([]string{subject}, false)
	if err != nil {
		return "", "", err
	}
	hasName := func(s *subjects.Subject) bool { return s.Name == subject || s.Slug == subject }
	isName := result.Literal || slices.ContainsFunc(result.Hits, hasName) // Literal: subject is a name of the only hit
	if isGlob := len(result.Hits) > 0 && !isName; isGlob {                // without hits, load returns the error
		return "", "", contract.Fixable(fmt.Sprintf("Topic %s has no subject %s.", text.Quote(id), text.Quote(subject)))
	}
	if content, err = t.load(ctx, []string{subject}, false, &remarks{}); err != nil {
		return "", "", err
	}
	return content, mimeType(result.Hits[0].Ext), nil
}

// address returns the address of a subject. Slashes in the name stay as they are. Other characters that mean something
// in a URI are encoded: https://www.rfc-editor.org/rfc/rfc3986#section-3.3
func address(topic, name string) string {
	return scheme + topic + "/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
}

// parseAddress returns the id of the topic and the name of the subject in an address. Slashes in the name may be
// encoded: some clients do that when they fill in the template. ok is false for a text that is no address of a subject.
func parseAddress(uri string) (topic, name string, ok bool) {
	rest, hasScheme := strings.CutPrefix(uri, scheme)
	encodedTopic, encodedName, _ := strings.Cut(rest, "/")
	topic, topicErr := url.PathUnescape(encodedTopic)
	name, nameErr := url.PathUnescape(encodedName)
	isDecoded := topicErr == nil && nameErr == nil && utf8.ValidString(topic+name)
	return topic, name, hasScheme && isDecoded && topic != "" && name != ""
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

// CompletePath returns the completions of prefix, the beginning of a TOPIC/SLUG, in any case. Before the slash they are
// the ids of topics with a slash after each. After the slash they are the visible subjects of the topic, or none if the
// topic does not exist or cannot be read.
func (b *Base) CompletePath(ctx context.Context, prefix string) (paths []string) {
	id, slug, ok := strings.Cut(prefix, "/")
	if !ok {
		for _, id := range b.CompleteTopic(ctx, prefix) {
			paths = append(paths, id+"/")
		}
		return paths
	}
	configured, err := b.lookup(id)
	if err != nil {
		return nil
	}
	t, err := b.scan(ctx, configured)
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

// hasPrefixFold reports whether s begins with prefix in any case. Lower case may have another length.
func hasPrefixFold(s, prefix string) bool {
	return strings.HasPrefix(strings.ToLower(s), strings.ToLower(prefix))
}
