package mcpserver

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A page in a browser can reach a server on this machine by a name that its
// owner points here. The browser still says which name it used and which page
// asked: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning

// hostAllowed checks the Host header. Addresses cannot be pointed elsewhere, so
// they are allowed, on the loopback interface only its own. Names have to be
// known.
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

// originAllowed checks the Origin header, which only browsers send: the page has
// to be known, or of a server on this machine where this is one, too.
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

// hostOnly takes the port off.
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
