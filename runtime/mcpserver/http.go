package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/origin"
)

// Limits on the resources of HTTP clients.
const (
	maxHeader     = 64 << 10 // bytes
	smallBody     = 64 << 10 // bytes
	maxLarge      = 8        // concurrent requests with a larger body, sent or half sent
	headerTime    = 10 * time.Second
	bodyTime      = 30 * time.Second
	writeTime     = time.Minute // for a client to receive a part of an answer
	keepAliveTime = 2 * time.Minute
)

// Path is the path of the server; / works too.
const Path = "/mcp"

// HTTPOptions decide who may use a server over HTTP.
type HTTPOptions struct {
	Token Token    // that every request has to have
	Hosts []string // names of this machine in Host headers, besides loopback names
	// Origins are the origins of web pages that may call the server and read its answers. Pages on this machine may
	// call it too, but browsers show them the answers only if their origin is listed here.
	Origins []string
}

// Listen opens a listener for [Server.ServeListener] at an address HOST:PORT. Without a host it listens on 127.0.0.1. A
// malformed address, and an address that other machines can reach without a token, are errors.
func Listen(address string, token Token) (net.Listener, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(address) // CheckAddress has split it without an error
	if host == "" {
		host = "127.0.0.1"
	}
	resolved, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("finding the address to listen on: %w", err)
	}
	if !resolved.IP.IsLoopback() && !token.IsSet() {
		return nil, fmt.Errorf("%s can be reached from other machines: that needs a token, in a file named with --token-file", address)
	}
	listener, err := net.ListenTCP("tcp", resolved)
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	return listener, nil
}

// CheckAddress returns an error for an address that [Listen] cannot read.
func CheckAddress(address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("%q is not an address: it has to be HOST:PORT, such as 127.0.0.1:8080", address)
	}
	return nil
}

// ServeListener serves clients until ctx is done. From then on it accepts no requests, and the requests that it handles
// have [Config.DrainTime] to be answered. After that time, ServeListener stops the requests that are left, gives these
// a short time to end, and returns nil. If the listener fails, ServeListener returns the error at once.
func (s *Server) ServeListener(ctx context.Context, listener net.Listener, opts HTTPOptions) error {
	limits, stop := newLifetime(context.WithoutCancel(ctx)) // requests end with stop, not with ctx
	defer stop(nil)
	server := &http.Server{
		Handler:           s.handler(limits, opts),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       bodyTime,
		IdleTimeout:       keepAliveTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	go s.watch(ctx)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	limits.endListening() // answers requests that only wait for changes
	allAnswered := func(within time.Duration) bool {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
		defer cancel()
		return server.Shutdown(limited) == nil
	}
	if allAnswered(s.cfg.DrainTime) {
		return nil
	}
	// The programs that the stopped calls run need time to end, or they outlive this process.
	stop(errStopping)
	if !allAnswered(stopTime) {
		_ = server.Close()
	}
	return nil
}

// Handler serves MCP at / and [Path], and "ok" at /healthz. Each request is independent: there are no sessions.
func (s *Server) Handler(opts HTTPOptions) http.Handler {
	limits, _ := newLifetime(context.Background())
	return s.handler(limits, opts)
}

// handler returns a handler of HTTP requests. When the contexts in limits end, the handler stops its requests.
func (s *Server) handler(limits lifetime, opts HTTPOptions) http.Handler {
	return &httpHandler{
		limits: limits, opts: opts, realm: s.cfg.Name, large: make(chan struct{}, maxLarge),
		mcp: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.sdk }, &mcp.StreamableHTTPOptions{
			Stateless: true, MaxRequestBodyBytes: MaxMessage,
			DisableLocalhostProtection: true, // origin.AllowsHost checks more names
		}),
	}
}

type httpHandler struct {
	mcp    http.Handler
	limits lifetime
	opts   HTTPOptions
	realm  string
	large  chan struct{} // has a value for each large body that is read
}

// ServeHTTP refuses requests of foreign hosts, foreign pages and clients without the token, answers /healthz and
// preflights, and serves MCP. The checks are in the order of their cases: /healthz and preflights need no token.
func (h *httpHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	fromListedPage := allowOrigin(w.Header(), r, h.opts.Origins)
	switch {
	case !origin.AllowsHost(r, h.opts.Hosts):
		http.Error(w, fmt.Sprintf("The Host header %.100q is not a name of this server; --allow-host allows more names.", r.Host), http.StatusForbidden)
	case !origin.Allows(r, h.opts.Origins):
		http.Error(w, fmt.Sprintf("Pages of the origin %.100q may not call this server; --allow-origin allows more.", r.Header.Get("Origin")), http.StatusForbidden)
	case r.URL.Path == "/healthz":
		_, _ = io.WriteString(w, "ok\n") // a client that is gone needs no answer
	case fromListedPage && isPreflight(r):
		answerPreflight(w)
	case !h.opts.Token.allows(r.Header.Get("Authorization")):
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q", h.realm))
		http.Error(w, "This server needs its token: Authorization: Bearer TOKEN.", http.StatusUnauthorized)
	case r.URL.Path != "/" && strings.TrimSuffix(r.URL.Path, "/") != Path:
		http.Error(w, "MCP is at "+Path+".", http.StatusNotFound)
	default:
		h.serve(w, r)
	}
}

// serve lets the SDK answer a message. It refuses a body that cannot be read, and a large body while maxLarge others are
// read. The work ends when the client goes away: for clients of older protocol versions, the SDK would go on.
func (h *httpHandler) serve(w http.ResponseWriter, r *http.Request) {
	beginning, err := io.ReadAll(io.LimitReader(r.Body, smallBody+1))
	if err != nil {
		http.Error(w, "The body could not be read.", http.StatusBadRequest)
		return
	}
	if len(beginning) > smallBody {
		select {
		case h.large <- struct{}{}:
			defer func() { <-h.large }()
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "Busy with large messages. Send this one again later.", http.StatusServiceUnavailable)
			return
		}
	}
	hasSessions := r.Header.Get("Mcp-Protocol-Version") < stateless // an earlier date, or missing
	if hasSessions && r.Header.Get("Mcp-Session-Id") == "" {
		// The id means nothing, but without one the conformance suite fails server-sse-multiple-streams.
		w.Header().Set("Mcp-Session-Id", rand.Text())
	}
	// limits has the contexts of this request. They end with the client's connection, or when the server stops (h.limits).
	// The context of r ends only with the connection: the SDK still has to write the answers of stopped calls.
	limits, stop := newLifetime(r.Context())
	defer stop(nil)
	defer context.AfterFunc(h.limits.calls, func() { stop(errStopping) })()
	defer context.AfterFunc(h.limits.listening, limits.endListening)()
	r = r.WithContext(context.WithValue(r.Context(), lifetimeKey{}, limits))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(beginning), r.Body))
	h.mcp.ServeHTTP(&impatientWriter{w}, r)
}

// impatientWriter bounds the time for each part of an answer. A whole answer, such as a stream, may take long.
type impatientWriter struct{ http.ResponseWriter }

// Write writes a part of an answer. It fails if the client does not receive the part within writeTime.
func (w *impatientWriter) Write(p []byte) (int, error) {
	// A recorder in a test has no connection and no slow client.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(writeTime))
	return w.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (w *impatientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
