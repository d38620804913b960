package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits on what HTTP clients may take up.
const (
	maxHeader      = 64 << 10        // bytes
	maxBodies      = 64 << 20        // bytes of the bodies of all requests that are not answered yet
	smallBody      = 64 << 10        // bytes at the beginning of each body that have a budget of their own
	maxListening   = 512             // requests, which last: with bodies of smallBody, half of the budget for those
	stallTime      = 5 * time.Second // without a byte of the body
	headerTime     = 10 * time.Second
	bodyTime       = time.Minute
	answerTime     = 5 * time.Minute  // from the header of a request to the end of its answer
	eventTime      = 10 * time.Second // for a client that listens to take what it is told; others wait meanwhile
	keepAliveTime  = 2 * time.Minute
	stopTime       = 10 * time.Second // for calls to end that are stopped
	sessionHeader  = "Mcp-Session-Id"
	versionHeader  = "Mcp-Protocol-Version"
	firstStateless = "2026-07-28" // the first protocol version without sessions
	// lastWithSessions is the newest protocol version that begins with initialize.
	lastWithSessions = "2025-11-25"
)

// Path is where clients find the server; / does as well.
const Path = "/mcp"

// HTTPOptions say who may use a server over HTTP.
type HTTPOptions struct {
	Token Token    // what every request has to show
	Hosts []string // names of this machine, beside loopback ones, that a Host header may have
	// Origins are those of web pages that may call, and read the answers. Requests
	// from pages on this machine are let in as well, but browsers show them the
	// answers only if they are named here.
	Origins []string
}

// Listen opens a listener for [Server.ServeListener]. An address without a host is on
// the loopback interface; one that other machines can reach needs a token.
func Listen(address string, token Token) (net.Listener, error) {
	host, port, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
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

// CheckAddress says what is wrong with the form of an address for [Listen].
func CheckAddress(address string) error {
	_, _, err := splitAddress(address)
	return err
}

func splitAddress(address string) (host, port string, err error) {
	if host, port, err = net.SplitHostPort(address); err != nil {
		return "", "", fmt.Errorf("%q is not an address: it has to be HOST:PORT, such as 127.0.0.1:8080", address)
	}
	return host, port, nil
}

// ServeListener serves clients on a listener until ctx is done. Requests that are not
// answered then have [Config.DrainTime] left.
func (s *Server) ServeListener(ctx context.Context, listener net.Listener, opts HTTPOptions) error {
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	server := &http.Server{
		Handler:           s.handler(work, ctx, opts),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       bodyTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       keepAliveTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	shutdown := func(wait time.Duration) error {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
		defer cancel()
		return server.Shutdown(limited)
	}
	if shutdown(s.cfg.DrainTime) == nil {
		return nil
	}
	// Whoever is still connected has had their time. The programs that work for
	// them would outlive this one if it did not wait until they are stopped.
	stop(errStopping)
	if shutdown(stopTime) != nil {
		_ = server.Close()
	}
	return nil
}

// Handler answers MCP at / and [Path], and "ok" at /healthz.
//
// Every request stands by itself, in both eras: there is no session to lose. A
// client of the era with sessions gets a session id all the same, as a name to
// find the request by that it cancels.
func (s *Server) Handler(opts HTTPOptions) http.Handler {
	return s.handler(context.Background(), context.Background(), opts)
}

// handler is a Handler whose calls end with work, and what listens with listenUntil.
// They are then still answered.
func (s *Server) handler(work, listenUntil context.Context, opts HTTPOptions) http.Handler {
	h := &httpHandler{server: s, work: work, listenUntil: listenUntil, opts: opts, cancels: map[string]context.CancelFunc{}}
	h.sdk = mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return s.sdk },
		&mcp.StreamableHTTPOptions{
			Stateless:                    true,
			DisableLocalhostProtection:   true, // hostAllowed does this, with names the user allows
			MaxRequestBodyBytes:          MaxMessage,
			PropagateRequestCancellation: true,
			Logger:                       s.log,
		})
	return h
}

type httpHandler struct {
	server    *Server
	sdk       http.Handler
	opts      HTTPOptions
	bodies    bodyBudget
	listening atomic.Int64 // requests
	// Calls end with work, and requests that listen with listenUntil.
	work, listenUntil context.Context

	mu      sync.Mutex
	cancels map[string]context.CancelFunc // by session and request id
}

func (h *httpHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	named := allowOrigin(w.Header(), r, h.opts.Origins)
	switch {
	case !hostAllowed(r, h.opts.Hosts):
		reject(w, r, http.StatusForbidden, fmt.Sprintf("The Host header %.100q is not a name of this server; --allow-host allows more names.", r.Host))
	case !originAllowed(r, h.opts.Origins):
		reject(w, r, http.StatusForbidden, fmt.Sprintf("Pages of the origin %.100q may not call this server; --allow-origin allows more.", r.Header.Get("Origin")))
	case r.URL.Path == "/healthz":
		h.health(w, r)
	case named && isPreflight(r): // which has no token
		answerPreflight(w)
	case !h.opts.Token.allows(r.Header.Get("Authorization")):
		w.Header().Set("WWW-Authenticate", `Bearer realm="convtools"`)
		reject(w, r, http.StatusUnauthorized, "This server needs its token: Authorization: Bearer TOKEN.")
	case r.URL.Path != "/" && strings.TrimSuffix(r.URL.Path, "/") != Path:
		reject(w, r, http.StatusNotFound, "MCP is at "+Path+".")
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		reject(w, r, http.StatusMethodNotAllowed, "Messages are sent with POST; there is no stream to GET.")
	default:
		h.post(w, r)
	}
}

// reject answers a request whose body is not read. Who posts a message gets one.
func reject(w http.ResponseWriter, r *http.Request, status int, why string) {
	if r.Method == http.MethodPost {
		refuse(w, status, invalid(nil, why))
		return
	}
	http.Error(w, why, status)
}

func (h *httpHandler) health(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "GET only.", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n") // a client that is gone needs no answer
}

// post passes one message on to the SDK, with a context that ends when the
// client goes away or cancels.
func (h *httpHandler) post(w http.ResponseWriter, r *http.Request) {
	body := &budgetReader{r: http.MaxBytesReader(w, r.Body, MaxMessage), budget: &h.bodies, conn: http.NewResponseController(w), until: time.Now().Add(bodyTime)}
	defer body.release()
	text, err := io.ReadAll(body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, invalid(leadingID(text), fmt.Sprintf("The message is longer than %d bytes and was not read.", MaxMessage)))
		return
	case errors.Is(err, errBusy):
		refuseBusy(w, leadingID(text), "Busy: too many requests wait for an answer. Send this one again later.")
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		refuse(w, http.StatusRequestTimeout, invalid(leadingID(text), "The body did not arrive in time."))
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, invalid(nil, "The body could not be read."))
		return
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	msg, refused := decodeMessage(bytes.TrimSpace(text))
	switch {
	case refused != nil:
		refuse(w, http.StatusBadRequest, refused)
		return
	case msg == nil: // an answer nobody waits for
		w.WriteHeader(http.StatusAccepted)
		return
	}
	stateless := r.Header.Get(versionHeader) >= firstStateless
	switch serve, refused := checkMethod(msg); {
	case refused != nil:
		refuse(w, methodStatus(stateless, refused.code), refused)
		return
	case !serve: // a notification of no use
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if problem := paramsProblem(msg); problem != "" && msg.IsCall() {
		refuse(w, methodStatus(stateless, jsonrpc.CodeInvalidParams), refusedAs(msg.rawID, jsonrpc.CodeInvalidParams, problem))
		return
	}
	_, refused = checkVersionType(msg)
	if listens(msg) {
		refused = checkVersion(msg) // the SDK would serve it in the other era, too
	}
	if refused != nil {
		refuse(w, methodStatus(stateless, refused.code), refused)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if !stateless {
		defer h.track(w, r, msg, cancel)()
	}
	end := h.work
	answer := &answerWriter{ResponseWriter: w, server: h.server, msg: msg}
	if listens(msg) {
		defer h.listening.Add(-1)
		switch {
		case h.listening.Add(1) > maxListening:
			refuseBusy(w, msg.rawID, fmt.Sprintf("Busy: %d requests listen already.", maxListening))
			return
		case len(text) > smallBody:
			refuse(w, http.StatusRequestEntityTooLarge, invalid(msg.rawID, fmt.Sprintf("A request that listens has at most %d bytes.", smallBody)))
			return
		}
		end, answer.conn = h.listenUntil, http.NewResponseController(w)
	}
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(end, func() { stop(context.Cause(end)) })()
	r = r.WithContext(bound(ctx, work))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	h.sdk.ServeHTTP(answer, r)
	answer.finish()
}

// methodStatus is the status of an error about what a message asks for. The era
// with sessions leaves it to the error, and takes 404 for the end of a session:
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
func methodStatus(stateless bool, code int64) int {
	switch {
	case !stateless:
		return http.StatusOK
	case code == jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	default:
		return http.StatusBadRequest
	}
}

// track keeps the books of the era with sessions: which request a client means
// when it cancels one. done takes the request off them.
func (h *httpHandler) track(w http.ResponseWriter, r *http.Request, msg *message, cancel context.CancelFunc) (done func()) {
	done = func() {}
	if msg.Method == "initialize" {
		w.Header().Set(sessionHeader, rand.Text())
		return done
	}
	session := r.Header.Get(sessionHeader)
	if session == "" {
		return done
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !msg.IsCall() {
		if cancelCall := h.cancels[cancelKey(session, canceledID(msg))]; cancelCall != nil {
			cancelCall()
		}
		return done
	}
	key := cancelKey(session, msg.ID)
	if h.cancels[key] != nil {
		return done // the id is in use; the first request keeps it
	}
	h.cancels[key] = cancel
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.cancels, key)
	}
}

// cancelKey keeps the number 1 and the string "1" apart.
func cancelKey(session string, id jsonrpc.ID) string {
	return fmt.Sprintf("%s %T %v", session, id.Raw(), id.Raw())
}

func refuseBusy(w http.ResponseWriter, id json.RawMessage, why string) {
	w.Header().Set("Retry-After", "1")
	refuse(w, http.StatusServiceUnavailable, refusedAs(id, codeBusy, why))
}

func refuse(w http.ResponseWriter, status int, refused *refusal) {
	text, err := refused.encode()
	if err != nil {
		http.Error(w, "The error could not be written.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that is gone needs no answer
}
