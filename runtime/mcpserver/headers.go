package mcpserver

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	sdkjson "github.com/segmentio/encoding/json"

	"github.com/convtools/convtools/runtime/mcpserver/wire"
)

// The headers of a message over HTTP:
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#protocol-version-header
// https://modelcontextprotocol.io/seps/2243-http-standardization
const (
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
	// unsaidVersion is the protocol version of a client that does not say one.
	unsaidVersion = "2025-03-26"
)

// checkRequest refuses a request whose headers do not go with it, with a status.
func checkRequest(h http.Header, msg *wire.Message) (status int, refused *wire.Refusal) {
	version := h.Get(versionHeader)
	mediaType, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case err != nil || mediaType != "application/json":
		return http.StatusUnsupportedMediaType, msg.Refuse(jsonrpc.CodeInvalidRequest, "Content-Type must be 'application/json'")
	case !accepts(h.Values("Accept")):
		return http.StatusBadRequest, msg.Refuse(jsonrpc.CodeInvalidRequest, "Accept must contain both 'application/json' and 'text/event-stream'")
	case version >= wire.Stateless || msg.HasVersion:
		return checkStateless(h, version, msg)
	case msg.CheckVersion() != nil: // it listens
		return http.StatusOK, msg.CheckVersion()
	case version != "" && !slices.Contains(mcp.SupportedProtocolVersions(), version):
		return http.StatusBadRequest, msg.Refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("Unsupported protocol version (supported versions: %s)", strings.Join(mcp.SupportedProtocolVersions(), ",")))
	}
	return 0, nil
}

// checkStateless refuses a request of the stateless era whose headers say something
// else than it does.
func checkStateless(h http.Header, version string, msg *wire.Message) (status int, refused *wire.Refusal) {
	mismatch := func(format string, arguments ...any) (int, *wire.Refusal) {
		return http.StatusBadRequest, msg.Refuse(mcp.CodeHeaderMismatch, fmt.Sprintf(format, arguments...))
	}
	name, named := nameOf(msg)
	switch {
	case version == "":
		return mismatch("%s header is required for requests carrying %q", versionHeader, mcp.MetaKeyProtocolVersion)
	case !msg.HasVersion:
		return http.StatusBadRequest, msg.Refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("missing or invalid _meta field %q", mcp.MetaKeyProtocolVersion))
	case version != msg.Version:
		return mismatch("%s header %.100q does not match request %s %.100q", versionHeader, version, mcp.MetaKeyProtocolVersion, msg.Version)
	case !slices.Contains(mcp.SupportedProtocolVersions(), version):
		return http.StatusBadRequest, msg.CheckVersion()
	case version < wire.Stateless:
		return http.StatusOK, msg.CheckVersion()
	case h.Get(methodHeader) == "":
		return mismatch("missing required %s header", methodHeader)
	case h.Get(methodHeader) != msg.Method:
		return mismatch("header mismatch: %s header value %.100q does not match body value %.100q", methodHeader, h.Get(methodHeader), msg.Method)
	case named && h.Get(nameHeader) == "":
		return mismatch("missing required %s header for method %q", nameHeader, msg.Method)
	case named && h.Get(nameHeader) != name:
		return mismatch("header mismatch: %s header value %.100q does not match body value %.100q", nameHeader, h.Get(nameHeader), name)
	}
	return 0, nil
}

// nameOf returns what a request asks for by name, which the headers repeat.
func nameOf(msg *wire.Message) (name string, named bool) {
	var params struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
	}
	switch msg.Method {
	case "tools/call", "prompts/get", "resources/read":
		// What cannot be read the SDK refuses, with a better reason.
		_, _ = sdkjson.Parse(msg.Params, &params, sdkjson.DontMatchCaseInsensitiveStructFields)
	default:
		return "", false
	}
	if msg.Method == "resources/read" {
		return params.URI, params.URI != ""
	}
	return params.Name, params.Name != ""
}

// accepts reports whether an Accept header allows an answer that is JSON and one
// that is a stream of events.
func accepts(values []string) bool {
	var asJSON, asEvents bool
	for _, value := range values {
		for accepted := range strings.SplitSeq(value, ",") {
			mediaType, _, _ := strings.Cut(accepted, ";")
			switch strings.ToLower(strings.TrimSpace(mediaType)) {
			case "application/json", "application/*":
				asJSON = true
			case "text/event-stream", "text/*":
				asEvents = true
			case "*/*":
				return true
			}
		}
	}
	return asJSON && asEvents
}
