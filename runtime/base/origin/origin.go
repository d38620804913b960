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

// AllowsHost reports whether a server may answer a request with the request's Host header. It allows the names in
// allowed. A request that came in on the loopback interface may also name that interface, and any other request may
// also have an IP address. Other names are refused: the owner of a web page may have pointed one here (DNS rebinding).
func AllowsHost(r *http.Request, allowed []string) bool {
	host := hostOnly(r.Host)
	if host == "" {
		return false
	}
	if slices.ContainsFunc(allowed, func(name string) bool { return strings.EqualFold(name, host) || strings.EqualFold(name, r.Host) }) {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil || IsLoopback(hostOnly(local.String())) { // an unknown interface counts as this one
		return IsLoopback(host)
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// Allows reports whether a server may answer a request with the request's Origin header. It allows the origins in
// allowed. It allows a request without the header, because only browsers send the header. If the Host header names this
// machine, it also allows an origin on this machine.
func Allows(r *http.Request, allowed []string) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 { // no browser sends several
		return false
	}
	if slices.Contains(allowed, values[0]) {
		return true
	}
	u, err := url.Parse(values[0])
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	isOrigin := u.Path == "" && u.RawQuery == "" && u.User == nil
	return isOrigin && IsLoopback(u.Hostname()) && IsLoopback(hostOnly(r.Host))
}

// Check returns an error if no browser sends an Origin header like origin, so that it would be useless to allow origin.
func Check(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != origin || strings.ToLower(origin) != origin {
		return fmt.Errorf("%q is not an origin: it has to be SCHEME://HOST or SCHEME://HOST:PORT in small letters, such as https://example.com", origin)
	}
	return nil
}

// CheckHost returns an error if name is not the name or the address of a host, with or without a port. The pattern "*"
// is an error too: it would allow any web page whose owner has pointed a name at this machine (DNS rebinding).
func CheckHost(name string) error {
	host, port, err := net.SplitHostPort(name)
	if err != nil {
		host, port = hostOnly(name), "0" // there is no port: a valid one takes the place
	}
	_, portErr := strconv.ParseUint(port, 10, 16)
	_, addressErr := netip.ParseAddr(host)
	isName := host != "" && strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == ""
	if portErr == nil && (addressErr == nil || isName) {
		return nil
	}
	return fmt.Errorf("%q is not the name of a host: each has to be given by itself, such as tools.example or tools.example:8080", name)
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
