package mcpserver

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge"
)

const (
	subjectScheme   = "kb://"
	subjectTemplate = subjectScheme + "{topic}/{slug}"
	subjectAddress  = "An address is " + subjectTemplate + ", with what resources/list or learn show, percent-encoded."
	// maxSubjectURI is how many bytes an address of a subject may have.
	maxSubjectURI = 16 << 10
	// resourcePage is how many resources a page of their list has.
	resourcePage = 1000
)

// Knowledge is a knowledge base at one moment, as [knowledge.Base] is.
type Knowledge interface {
	// TopicResources returns the subjects of a topic that are listed, always in the
	// same order.
	TopicResources(ctx context.Context, topic string) ([]knowledge.Resource, []knowledge.Warning, error)
	// ReadResource returns the text of a subject and its type. What no subject
	// answers to is a [contract.Error] of the caller's.
	ReadResource(ctx context.Context, topic, subject string) (text, mimeType string, err error)
	// CompleteTopic returns the ids of topics that prefix may stand for: all, where
	// it is empty.
	CompleteTopic(prefix string) []string
	// CompleteSubject returns the names of listed subjects that begin with prefix.
	CompleteSubject(ctx context.Context, topic, prefix string) ([]string, error)
}

var _ Knowledge = (*knowledge.Base)(nil)

// addSubjects offers the template of the addresses of subjects.
func (s *Server) addSubjects() {
	s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{
		Name:        "knowledge",
		Title:       "Subject of the knowledge base",
		Description: "What people have written down about a topic of this workspace. Read anew each time.",
		URITemplate: subjectTemplate,
	}, s.readSubject)
}

// listSubjects returns a page of the resources there are. Conversations are not
// listed: conversation_list does that.
func (s *Server) listSubjects(ctx context.Context, req *mcp.ListResourcesRequest) (*mcp.ListResourcesResult, error) {
	leave, err := s.reads.enter(ctx)
	if err != nil {
		return nil, internal(err)
	}
	defer leave()
	s.refresh(ctx, lookPause)
	from := place{}
	if req.Params != nil && req.Params.Cursor != "" {
		if from, err = placeOf(req.Params.Cursor); err != nil {
			return nil, err
		}
	}
	// One more than fits says whether there is another page.
	found, err := s.subjectsBehind(ctx, from, resourcePage+1)
	if err != nil {
		return nil, err
	}
	result := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}
	for _, r := range found[:min(len(found), resourcePage)] {
		result.Resources = append(result.Resources, &mcp.Resource{
			URI: subjectURI(r.Topic, r.Name), Name: r.Topic + "/" + r.Name,
			Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
		})
	}
	if len(found) > resourcePage {
		result.NextCursor = found[resourcePage-1].cursor()
	}
	result.CacheScope = "private"
	return result, nil
}

// place is where in the list of resources a subject stands. It names the subject,
// so that nothing is skipped when others come or go, and counts the topics before
// its own, for the case that the topic goes.
type place struct {
	before      int
	topic, name string
}

// listedSubject is a subject in the list of resources.
type listedSubject struct {
	knowledge.Resource
	before int // topics
}

func (l listedSubject) cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d/%s/%s", l.before, l.Topic, l.Name))
}

// placeOf reads a cursor.
func placeOf(cursor string) (place, error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	count, rest, _ := strings.Cut(string(text), "/")
	topic, name, ok := strings.Cut(rest, "/")
	before, countErr := strconv.ParseUint(count, 10, 31)
	if err != nil || countErr != nil || !ok {
		return place{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no page begins there"}
	}
	return place{int(before), topic, name}, nil
}

// subjectsBehind returns at most limit subjects that are listed behind a place,
// and looks into no more topics than it takes. Configuration with errors is no
// reason for a client to take the server for broken, which asks for this list
// when it starts: learn says what is wrong, and so does the log.
func (s *Server) subjectsBehind(ctx context.Context, from place, limit int) ([]listedSubject, error) {
	base, err := s.cfg.Knowledge()
	if err != nil {
		s.log.Warn("the knowledge base cannot be opened", "cause", clip(err.Error(), maxErrorMessage))
		return nil, nil
	}
	topics := base.CompleteTopic("")
	first := slices.Index(topics, from.topic)
	if first < 0 {
		first, from.name = min(from.before, len(topics)), "" // those behind it have moved up
	}
	var found []listedSubject
	for i := first; i < len(topics) && len(found) < limit; i++ {
		resources, warnings, err := base.TopicResources(ctx, topics[i])
		if err != nil {
			return nil, err
		}
		for _, w := range warnings {
			s.log.Warn("part of the knowledge base is missing", "cause", clip(w.String(), maxErrorMessage))
		}
		if i == first && from.name != "" {
			resources = behind(resources, from.name)
		}
		for _, r := range resources[:min(len(resources), limit-len(found))] {
			found = append(found, listedSubject{r, i})
		}
	}
	return found, nil
}

// behind returns the resources of a topic that are listed behind the one of that
// name, or behind where it would stand.
func behind(resources []knowledge.Resource, name string) []knowledge.Resource {
	if i := slices.IndexFunc(resources, func(r knowledge.Resource) bool { return r.Name == name }); i >= 0 {
		return resources[i+1:]
	}
	if i := slices.IndexFunc(resources, func(r knowledge.Resource) bool { return r.Name > name }); i >= 0 {
		return resources[i:]
	}
	return nil
}

// routeSubject has the SDK find readSubject. It takes an address for one of the
// template only if everything is encoded in it, slashes too; the client gets back
// the one it sent.
func routeSubject(ctx context.Context, method string, req *mcp.ReadResourceRequest, next mcp.MethodHandler) (mcp.Result, error) {
	uri := req.Params.URI
	topic, subject, ok := parseSubjectURI(uri)
	if !ok {
		return nil, notFound(uri, subjectAddress)
	}
	encode := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	req.Params.URI = subjectScheme + encode(topic) + "/" + encode(subject)
	result, err := next(ctx, method, req)
	if wire, ok := err.(*jsonrpc.Error); ok && wire.Data != nil { //nolint:errorlint // a wrapped one is not meant for clients
		wire.Data = uriData(uri)
	}
	if read, ok := result.(*mcp.ReadResourceResult); ok && err == nil {
		for _, contents := range read.Contents {
			contents.URI = uri
		}
	}
	return result, err
}

// readSubject returns a subject as it is now.
func (s *Server) readSubject(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	topic, subject, ok := parseSubjectURI(uri)
	if !ok {
		return nil, notFound(uri, subjectAddress)
	}
	leave, err := s.reads.enter(ctx)
	if err != nil {
		return nil, internal(err)
	}
	defer leave()
	base, err := s.cfg.Knowledge()
	if err != nil {
		s.log.Warn("the knowledge base cannot be opened", "cause", clip(err.Error(), maxErrorMessage))
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The knowledge base cannot be read until its configuration is corrected. The user can see what is wrong with: convtools knowledge check"}
	}
	text, mimeType, err := base.ReadResource(ctx, topic, subject)
	var failure *contract.Error
	switch {
	case err == nil:
		return &mcp.ReadResourceResult{
			Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: mimeType, Text: text}},
		}, nil
	case !errors.As(err, &failure):
		return nil, fmt.Errorf("reading a subject: %w", err)
	case failure.Caller:
		return nil, notFound(uri, failure.Message)
	default:
		return nil, internal(failure)
	}
}

// completeSubject answers which topics and subjects there are that begin with
// value. Subjects need a topic, which the client has in earlier arguments.
func (s *Server) completeSubject(ctx context.Context, params *mcp.CompleteParams) ([]string, error) {
	leave, err := s.reads.enter(ctx)
	if err != nil {
		return nil, internal(err)
	}
	defer leave()
	base, err := s.cfg.Knowledge()
	if err != nil {
		return nil, nil //nolint:nilerr // there is nothing to complete; reading says what is wrong
	}
	if params.Argument.Name == "topic" {
		return base.CompleteTopic(params.Argument.Value), nil
	}
	if params.Context == nil {
		return nil, nil
	}
	return base.CompleteSubject(ctx, params.Context.Arguments["topic"], params.Argument.Value)
}

// subjectURI returns the address of a subject. Slashes in names stay what they
// are, everything else that means something in a URI is encoded:
// https://www.rfc-editor.org/rfc/rfc3986#section-3.3
func subjectURI(topic, name string) string {
	var uri strings.Builder
	uri.WriteString(subjectScheme + topic)
	for part := range strings.SplitSeq(name, "/") {
		uri.WriteString("/" + url.PathEscape(part))
	}
	return uri.String()
}

// parseSubjectURI returns what the address of a subject names. Clients that fill
// in the template encode slashes, too.
func parseSubjectURI(uri string) (topic, name string, ok bool) {
	if len(uri) > maxSubjectURI {
		return "", "", false
	}
	rest, ok := strings.CutPrefix(uri, subjectScheme)
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
