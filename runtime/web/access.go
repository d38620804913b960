package web

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"

	"github.com/convtools/convtools/runtime/base/origin"
)

// keys are the secrets of one run. The first request has one of the tokens, which it exchanges for the cookie.
type keys struct {
	token  string // in the address that is printed
	ticket string // in the address that a browser is started with: other users see it there, and it is valid once
	cookie string
}

// newKeys returns keys of at least 128 bits.
func newKeys() keys { return keys{token: rand.Text(), ticket: rand.Text(), cookie: rand.Text()} }

// cookieName returns the name of the cookie. Browsers send cookies to all ports of a machine.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "convtools-" + port
	}
	return "convtools"
}

// policy allows a page its own style and script, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// admits sets the headers of every answer, and reports whether a request has the cookie of the person who started the
// server. If not, it answers the request: with the cookie for a token, otherwise with an error.
func (s *Server) admits(w http.ResponseWriter, r *http.Request) bool {
	for name, value := range map[string]string{
		"Content-Security-Policy":      policy,
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Referrer-Policy":              "no-referrer",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Cache-Control":                "no-store",
		"Content-Type":                 "text/html; charset=utf-8",
	} {
		w.Header().Set(name, value)
	}
	switch {
	case !origin.AllowsHost(r, nil), !origin.Allows(r, nil), isForeign(r):
		http.Error(w, "This page answers only to itself.", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "This page changes nothing.", http.StatusMethodNotAllowed)
	case r.URL.Path == "/" && s.accepts(r.URL.Query().Get("token")):
		http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: s.keys.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, "/", http.StatusSeeOther) // the token leaves the address
	case !s.knows(r):
		http.Error(w, "This page opens with the address that "+s.host.Name+" web has printed.", http.StatusForbidden)
	default:
		return true
	}
	return false
}

// isForeign reports whether another page than those of this server has made the request.
func isForeign(r *http.Request) bool {
	if from := r.Header.Get("Origin"); from != "" && from != "http://"+r.Host {
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return true
}

// accepts reports whether a text is the token, or the ticket for the first time.
func (s *Server) accepts(token string) bool {
	return same(token, s.keys.token) || same(token, s.keys.ticket) && s.ticketUsed.CompareAndSwap(false, true)
}

// knows reports whether a request has the cookie.
func (s *Server) knows(r *http.Request) bool {
	isKnown := func(c *http.Cookie) bool { return same(c.Value, s.keys.cookie) }
	return slices.ContainsFunc(r.CookiesNamed(cookieName(r)), isKnown) // servers on other ports can set some, too
}

// same reports whether a given text is a secret. Its time does not tell how much of the text is right.
func same(given, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(secret)) == 1
}

// ownListener is a listener that closes connections of other users of this machine, where the system names the user.
type ownListener struct{ net.Listener }

// Accept implements [net.Listener].
func (l ownListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || !isOfAnotherUser(c) {
			return c, err
		}
		_ = c.Close() // nothing was written
	}
}
