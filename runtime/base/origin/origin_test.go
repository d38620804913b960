package origin_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/base/origin"
)

func TestHostAndOrigin(t *testing.T) {
	t.Parallel()
	const port = "8080"
	for _, tc := range []struct {
		host, origin string
		allowed      bool
	}{
		{"127.0.0.1:" + port, "", true},
		{"localhost:" + port, "", true},
		{"LocalHost", "", true},
		{"[::1]:" + port, "", true},
		{"127.9.9.9", "", true},
		{"tools.example", "", true},
		{"Tools.Example:99", "", true},
		{"evil.example", "", false},
		{"evil.example:" + port, "", false},
		{"localhost.evil.example", "", false},
		{"127.0.0.1.evil.example", "", false},
		{"192.168.1.7:" + port, "", false},
		{"tools.example.evil.example", "", false},
		{"localhost", "http://localhost:6274", true},
		{"localhost", "http://127.0.0.1", true},
		{"localhost", "https://app.example", true},
		{"localhost", "https://app.example.evil.example", false},
		{"localhost", "https://app.example:8443", false},
		{"localhost", "http://app.example", false},
		{"localhost", "http://evil.example", false},
		{"localhost", "http://evil.example#http://localhost", false},
		{"localhost", "http://localhost@evil.example", false},
		{"localhost", "file://localhost", false},
		{"localhost", "null", false},
		{"localhost", "http://localhost/path", false},
		{"localhost", "\t", true}, // blank is no Origin at all
		{"tools.example", "http://localhost:6274", false},
		{"evil.example", "http://evil.example", false},
	} {
		r := request(tc.host, "127.0.0.1")
		if strings.TrimSpace(tc.origin) != "" {
			r.Header.Set("Origin", tc.origin)
		}
		if got := allows(r); got != tc.allowed {
			t.Errorf("host %q and origin %q are allowed: %t, want %t", tc.host, tc.origin, got, tc.allowed)
		}
	}
	r := request("localhost", "127.0.0.1")
	r.Header["Origin"] = []string{"http://localhost", "http://evil.example"}
	if allows(r) {
		t.Error("two origins are allowed")
	}
}

// A server that other machines reach answers to its addresses, and pages elsewhere may not call it.
func TestAddressOfAnotherMachine(t *testing.T) {
	t.Parallel()
	for host, allowed := range map[string]bool{"192.168.1.7:8080": true, "[fe80::1]:80": true, "evil.example": false, "": false} {
		if got := allows(request(host, "192.168.1.7")); got != allowed {
			t.Errorf("host %q is allowed: %t, want %t", host, got, allowed)
		}
	}
	r := request("192.168.1.7", "192.168.1.7")
	r.Header.Set("Origin", "http://localhost")
	if allows(r) {
		t.Error("a page of this machine may call a server that others reach by its address")
	}
}

// allows reports whether a server that knows a name and a page answers a request.
func allows(r *http.Request) bool {
	return origin.AllowsHost(r, []string{"tools.example"}) && origin.Allows(r, []string{"https://app.example"})
}

// request returns a request for a host that came to an address of this machine.
func request(host, local string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = host
	address := &net.TCPAddr{IP: net.ParseIP(local), Port: 8080}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(address)))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for page, ok := range map[string]bool{
		"https://app.example":      true,
		"http://localhost:6274":    true,
		"http://[::1]:80":          true,
		"vscode-webview://abc":     true,
		"https://app.example/":     false,
		"https://App.example":      false,
		"https://app.example/path": false,
		"https://u@app.example":    false,
		"app.example":              false,
		"*":                        false,
		"null":                     false,
		"":                         false,
	} {
		if err := origin.Check(page); (err == nil) != ok {
			t.Errorf("Check(%q): %v", page, err)
		}
	}
}

func TestCheckHost(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"tools.example":         true,
		"Tools_1.example:8080":  true,
		"192.168.1.7":           true,
		"192.168.1.7:80":        true,
		"[fe80::1]:80":          true,
		"fe80::1":               true,
		"*":                     false,
		"*.example":             false,
		"*:8080":                false,
		"":                      false,
		":8080":                 false,
		"https://tools.example": false,
		"tools.example:http":    false,
		"tools.example/mcp":     false,
		"a b":                   false,
		"u@tools.example":       false,
	} {
		if err := origin.CheckHost(name); (err == nil) != ok {
			t.Errorf("CheckHost(%q): %v", name, err)
		}
	}
}
