// Package origin decides by the Host and Origin headers which requests a server on this machine answers. A page in a
// browser can reach such a server by a name that the page's owner points here. The browser still says which name it used
// and which page asked: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
package origin

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

// AllowsHost reports whether a server answers a request with this Host header. It allows the given names. Any other
// host has to name the loopback interface or, if the request is known to have come in on another interface, be an IP
// address, which nobody can point elsewhere.
func AllowsHost(r *http.Request, allowed []string) bool {
	host := hostOnly(r.Host)
	if host == "" {
		return false
	}
	if slices.ContainsFunc(allowed, func(name string) bool { return strings.EqualFold(name, host) || strings.EqualFold(name, r.Host) }) {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil || IsLoopback(hostOnly(local.String())) {
		return IsLoopback(host)
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// Allows reports whether a server answers a request with this Origin header. It allows a request without one: only
// browsers send it. Besides the given origins it allows those on this machine, if the Host header names this machine.
func Allows(r *http.Request, allowed []string) bool {
	values := r.Header.Values("Origin")
	if len(values) != 1 {
		return len(values) == 0 // no browser sends several
	}
	if slices.Contains(allowed, values[0]) {
		return true
	}
	origin, err := url.Parse(values[0])
	if err != nil || (origin.Scheme != "http" && origin.Scheme != "https") || origin.Path != "" || origin.RawQuery != "" || origin.User != nil {
		return false
	}
	return IsLoopback(origin.Hostname()) && IsLoopback(hostOnly(r.Host))
}

// Check returns an error for an origin to allow that no browser would send.
func Check(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != origin || strings.ToLower(origin) != origin {
		return fmt.Errorf("%q is not an origin: it has to be SCHEME://HOST or SCHEME://HOST:PORT in small letters, such as https://example.com", origin)
	}
	return nil
}

// CheckHost returns an error for a name to allow that no client would send in a Host header. There is no name for all
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

// IsLoopback reports whether a host is localhost or an IP address of the loopback interface.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
