package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

const (
	// stateless is the first protocol version without sessions:
	// https://modelcontextprotocol.io/seps/2575-stateless-mcp
	stateless = "2026-07-28"
	// resourcePage is the number of resources in a page of the list.
	resourcePage = 1000
	// maxURI is the number of characters of an address in an error.
	maxURI = 256
)

// listResources returns a page of the resources of all kinds, and the cursor of the next page if there is one. A cursor
// is the index of a kind, a colon, and a cursor in the list of that kind; any other cursor is an error.
func (s *Server) listResources(ctx context.Context, req *mcp.ListResourcesRequest) (mcp.Result, error) {
	firstKind, cursor := 0, "" // cursor is in the list of firstKind
	if req.Params != nil && req.Params.Cursor != "" {
		number, rest, hasColon := strings.Cut(req.Params.Cursor, ":")
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil || !hasColon {
			return nil, cursorError()
		}
		firstKind, cursor = int(n), rest
	}
	result := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, Cacheable: mcp.Cacheable{TTLMs: s.listTTL(), CacheScope: private}}
	kinds := s.cfg.Tools.Resources()
	for i := firstKind; i < len(kinds); i++ {
		if kinds[i].List == nil { // resources of this kind are read by address only
			continue
		}
		if len(result.Resources) == resourcePage {
			result.NextCursor = strconv.Itoa(i) + ":"
			break
		}
		if i > firstKind {
			cursor = "" // the list of this kind begins
		}
		page, next, err := kinds[i].List(ctx, cursor, resourcePage-len(result.Resources))
		var failure *contract.Error
		if errors.As(err, &failure) && failure.Caller { // the caller's mistake: only the cursor is the caller's
			return nil, cursorError()
		}
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			result.Resources = append(result.Resources, &mcp.Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType})
		}
		if next != "" {
			result.NextCursor = strconv.Itoa(i) + ":" + next
			break
		}
	}
	return result, nil
}

// readResource returns the resource at an address. The first kind whose template has the same scheme reads it. The
// error says that there is no such kind or resource, or why it cannot be read.
func (s *Server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (mcp.Result, error) {
	uri := req.Params.URI
	for _, r := range s.cfg.Tools.Resources() {
		scheme, _, _ := strings.Cut(r.Template, ":")
		if !strings.HasPrefix(uri, scheme+":") {
			continue
		}
		resource, err := r.Read(ctx, s.callContext(req.Session, req.Params.Meta), uri)
		var missing *toolset.NotFoundError
		switch {
		case errors.As(err, &missing):
			return nil, notFound(uri, ". "+missing.Reason)
		case err != nil:
			return nil, err
		}
		result := &mcp.ReadResourceResult{}
		if req.ProtocolVersion() >= stateless {
			// The SDK adds resultType, but not for an address that differs slightly from its template.
			if err := json.Unmarshal([]byte(`{"resultType":"complete"}`), result); err != nil {
				return nil, err
			}
		}
		result.Contents = []*mcp.ResourceContents{{URI: uri, MIMEType: resource.MIMEType, Text: resource.Text}}
		result.CacheScope = private
		return result, nil
	}
	return nil, notFound(uri, "")
}

// notFound returns the error for an address without a resource. why is empty or a sentence after a period.
func notFound(uri, why string) error {
	data, err := json.Marshal(map[string]string{"uri": text.Cut(uri, maxURI)})
	if err != nil {
		data = nil // a string can always be encoded
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Resource not found" + why, Data: data}
}
