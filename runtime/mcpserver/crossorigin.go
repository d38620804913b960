package mcpserver

import (
	"net/http"
	"slices"
)

// allowOrigin reports whether a request comes from a page of a named origin. If it does, allowOrigin adds the headers
// with which a browser shows the answer to the page: https://fetch.spec.whatwg.org/#http-cors-protocol
func allowOrigin(answer http.Header, r *http.Request, named []string) bool {
	answer.Add("Vary", "Origin")
	origin := r.Header.Values("Origin")
	if len(origin) != 1 || !slices.Contains(named, origin[0]) {
		return false
	}
	answer.Set("Access-Control-Allow-Origin", origin[0])
	answer.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate")
	return true
}

// isPreflight reports whether a request is a browser's question for the methods and headers that a page may send.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight allows POST and the headers of clients. No credentials are allowed: the token is in a header.
func answerPreflight(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
	w.Header().Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id")
	w.Header().Set("Access-Control-Max-Age", "600") // seconds
	w.WriteHeader(http.StatusNoContent)
}
