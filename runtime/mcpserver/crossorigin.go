package mcpserver

import (
	"net/http"
	"slices"
)

// allowOrigin lets a browser show the answer to a named page: https://fetch.spec.whatwg.org/#http-cors-protocol
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

// isPreflight reports whether a browser asks for the headers that a page may send.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// answerPreflight allows the headers of clients. The token is in a header and not in a cookie, so that credentials
// are not allowed.
func answerPreflight(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
	w.Header().Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id")
	w.Header().Set("Access-Control-Max-Age", "600") // seconds
	w.WriteHeader(http.StatusNoContent)
}
