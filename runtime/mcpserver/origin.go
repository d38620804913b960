package mcpserver

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A page in a browser can reach a server on this machine by a name that its
// owner points here. The browser still says which name it used and which page
// asked: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning

// hostAllowed checks the Host header. It allows addresses, which nobody can point elsewhere; on the loopback
// interface only its own. It allows known names.
func hostAllowed(r *http.Request, known []string) bool {
	host := hostOnly(r.Host)
	if host == "" {
		return false
	}
	if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, host) || strings.EqualFold(k, r.Host) }) {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil || isLoopback(hostOnly(local.String())) {
		return isLoopback(host)
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// originAllowed checks the Origin header, which only browsers send. It allows known pages, and pages of servers on
// this machine if this server is on the loopback interface.
func originAllowed(r *http.Request, known []string) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	if slices.Contains(known, values[0]) {
		return true
	}
	origin, err := url.Parse(values[0])
	if err != nil || (origin.Scheme != "http" && origin.Scheme != "https") || origin.Path != "" || origin.RawQuery != "" || origin.User != nil {
		return false
	}
	return isLoopback(origin.Hostname()) && isLoopback(hostOnly(r.Host))
}

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

// CheckOrigin returns an error for an allowed origin that no browser would send.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != origin || strings.ToLower(origin) != origin {
		return fmt.Errorf("%q is not an origin: it has to be SCHEME://HOST or SCHEME://HOST:PORT in small letters, such as https://example.com", origin)
	}
	return nil
}

// CheckHost returns an error for an allowed name that no client would send in a Host header. There is no name for all
// hosts: it would let in every page with a name that its owner points here.
func CheckHost(name string) error {
	host, port, err := net.SplitHostPort(name)
	if err != nil {
		host, port = hostOnly(name), "0"
	}
	_, notNumber := strconv.ParseUint(port, 10, 16)
	_, notAddress := netip.ParseAddr(host)
	odd := strings.ContainsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
	if notNumber != nil || notAddress != nil && (odd || host == "") {
		return fmt.Errorf("%q is not the name of a host: each has to be given by itself, such as tools.example or tools.example:8080", name)
	}
	return nil
}

// hostOnly returns a host without its port.
func hostOnly(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	return host
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
