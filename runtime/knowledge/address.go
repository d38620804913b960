package knowledge

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

const (
	scheme   = "kb://"
	template = scheme + "{topic}/{slug}"
	// maxAddress is how many bytes an address may have.
	maxAddress = 16 << 10
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
			b, err := f.open("")
			switch {
			case err != nil:
				return nil, nil //nolint:nilerr // there is nothing to complete; reading says what is wrong
			case variable == "topic":
				return b.CompleteTopic(prefix), nil
			default:
				return b.CompleteSubject(ctx, given["topic"], prefix)
			}
		},
	}
}

// list returns a page of subjects, and looks into no more topics than it takes.
// Configuration with errors is no reason for a client to take the server for
// broken, which asks for this list when it starts: learn says what is wrong.
func (f *family) list(ctx context.Context, cursor string, limit int) (page []toolset.Resource, next string, err error) {
	name, err := placeOf(cursor)
	if err != nil {
		return nil, "", err
	}
	b, err := f.open("")
	if err != nil {
		f.host.WarnOnce("the knowledge base cannot be opened: " + err.Error())
		return nil, "", nil
	}
	topics := b.TopicIDs()
	topic, _, _ := strings.Cut(name, "/")
	first := max(slices.Index(topics, topic), 0)
	if name != "" && !slices.Contains(topics, topic) {
		return nil, "", contract.Fixable("no page begins there")
	}
	for i := first; i < len(topics); i++ {
		found, warnings, err := b.TopicResources(ctx, topics[i])
		if err != nil {
			return nil, "", err
		}
		for _, w := range warnings {
			f.host.WarnOnce(w.String())
		}
		if i == first && name != "" {
			found = behind(found, name)
		}
		for _, r := range found {
			if len(page) == limit {
				return page, next, nil
			}
			page = append(page, r)
			next = base64.RawURLEncoding.EncodeToString([]byte(r.Name))
		}
	}
	return page, "", nil
}

// placeOf reads a cursor: the name of the last resource, so that nothing is skipped
// when others come or go. The empty one is before everything.
func placeOf(cursor string) (name string, err error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || cursor != "" && !strings.Contains(string(text), "/") {
		return "", contract.Fixable("no page begins there")
	}
	return string(text), nil
}

// behind returns the resources of a topic that are listed behind the one of that
// name, or behind where it would stand.
func behind(resources []toolset.Resource, name string) []toolset.Resource {
	if i := slices.IndexFunc(resources, func(r toolset.Resource) bool { return r.Name == name }); i >= 0 {
		return resources[i+1:]
	}
	if i := slices.IndexFunc(resources, func(r toolset.Resource) bool { return r.Name > name }); i >= 0 {
		return resources[i:]
	}
	return nil
}

// readAddress returns a subject as it is at the moment.
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
	switch {
	case err == nil:
		return toolset.Contents{Text: text, MIMEType: mime}, nil
	case errors.As(err, &failure) && failure.Caller:
		return toolset.Contents{}, &toolset.NotFoundError{URI: uri, Reason: failure.Message}
	default:
		return toolset.Contents{}, err
	}
}

// address returns the address of a subject. Slashes in names stay what they are,
// everything else that means something in a URI is encoded:
// https://www.rfc-editor.org/rfc/rfc3986#section-3.3
func address(topic, name string) string {
	var uri strings.Builder
	uri.WriteString(scheme + topic)
	for part := range strings.SplitSeq(name, "/") {
		uri.WriteString("/" + url.PathEscape(part))
	}
	return uri.String()
}

// parseAddress returns what an address names. Clients that fill in the template
// encode slashes, too.
func parseAddress(uri string) (topic, name string, ok bool) {
	if len(uri) > maxAddress {
		return "", "", false
	}
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return "", "", false
	}
	before, behind, _ := strings.Cut(rest, "/")
	topic, topicErr := url.PathUnescape(before)
	name, nameErr := url.PathUnescape(behind)
	if topicErr != nil || nameErr != nil || topic == "" || name == "" || !utf8.ValidString(topic) || !utf8.ValidString(name) {
		return "", "", false
	}
	return topic, name, true
}
