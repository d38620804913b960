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

// listResources returns a page of the resources. A cursor has the number of the family and the family's own cursor:
// "1:" and a text.
func (s *Server) listResources(ctx context.Context, req *mcp.ListResourcesRequest) (mcp.Result, error) {
	first, cursor := 0, ""
	if req.Params != nil && req.Params.Cursor != "" {
		number, rest, ok := strings.Cut(req.Params.Cursor, ":")
		n, err := strconv.ParseUint(number, 10, 16)
		if !ok || err != nil {
			return nil, noPage()
		}
		first, cursor = int(n), rest
	}
	result := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, Cacheable: mcp.Cacheable{TTLMs: s.listTTL(), CacheScope: private}}
	all := s.resources()
	for i := first; i < len(all); i, cursor = i+1, "" {
		if all[i].List == nil {
			continue
		}
		room := resourcePage - len(result.Resources)
		if room == 0 {
			result.NextCursor = strconv.Itoa(i) + ":"
			break
		}
		page, next, err := all[i].List(ctx, cursor, room)
		var failure *contract.Error
		switch {
		case errors.As(err, &failure) && failure.Caller:
			return nil, noPage()
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

// readResource returns the resource at an address.
func (s *Server) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (mcp.Result, error) {
	uri := req.Params.URI
	for _, r := range s.resources() {
		if scheme, _, _ := strings.Cut(r.Template, ":"); !strings.HasPrefix(uri, scheme+":") {
			continue
		}
		found, err := r.Read(ctx, s.callContext(req.Session, req.Params.Meta), uri)
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
		result.Contents = []*mcp.ResourceContents{{URI: uri, MIMEType: found.MIMEType, Text: found.Text}}
		result.CacheScope = private
		return result, nil
	}
	return nil, notFound(uri, "")
}

func notFound(uri, why string) error {
	data, err := json.Marshal(map[string]string{"uri": text.Cut(uri, maxURI)})
	if err != nil {
		data = nil // a string can always be encoded
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Resource not found" + why, Data: data}
}
