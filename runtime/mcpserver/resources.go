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

// resources returns the resources of all families.
func (s *Server) resources() []toolset.Resources {
	var all []toolset.Resources
	for _, f := range s.cfg.Tools.Families() {
		all = append(all, f.Resources...)
	}
	return all
}

// listResources returns a page of the resources of all kinds, and the cursor of the next page if there is one. A cursor
// is the index of a kind in resources, a colon, and that kind's own cursor. It returns an error for any other cursor.
func (s *Server) listResources(ctx context.Context, req *mcp.ListResourcesRequest) (mcp.Result, error) {
	first, cursor := 0, ""
	if req.Params != nil && req.Params.Cursor != "" {
		number, rest, ok := strings.Cut(req.Params.Cursor, ":")
		n, err := strconv.ParseUint(number, 10, 16)
		if !ok || err != nil {
			return nil, cursorError()
		}
		first, cursor = int(n), rest
	}
	result := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, Cacheable: mcp.Cacheable{TTLMs: s.listTTL(), CacheScope: private}}
	kinds := s.resources()
	for i := first; i < len(kinds); i, cursor = i+1, "" {
		if kinds[i].List == nil { // these are read by address only
			continue
		}
		room := resourcePage - len(result.Resources)
		if room == 0 {
			result.NextCursor = strconv.Itoa(i) + ":"
			break
		}
		page, next, err := kinds[i].List(ctx, cursor, room)
		var failure *contract.Error
		switch {
		case errors.As(err, &failure) && failure.Caller: // only the cursor comes from the caller
			return nil, cursorError()
		case err != nil:
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

// readResource returns the resource at an address. The kind whose template begins with the same scheme reads it. The
// error says that there is no such kind or no such resource, or is that of reading.
func (s *Server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (mcp.Result, error) {
	uri := req.Params.URI
	for _, r := range s.resources() {
		if scheme, _, _ := strings.Cut(r.Template, ":"); !strings.HasPrefix(uri, scheme+":") {
			continue // another kind
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
			// The SDK adds this to results of its own handlers, but finds no handler for an address that differs
			// slightly from its template.
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
