package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
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

	"github.com/convtools/convtools/runtime/mcpserver/wire"
)

// Limits on what HTTP clients may take up.
const (
	maxHeader     = 64 << 10        // bytes
	maxBodies     = 64 << 20        // bytes of the bodies of all requests that are not answered yet, behind smallBody
	maxComing     = 16 << 20        // bytes of those of them that are not there as a whole
	smallBody     = 64 << 10        // bytes at the beginning of each body that are not counted
	maxListening  = 512             // requests, which last, with bodies of smallBody
	stallTime     = 5 * time.Second // without a byte of the body
	headerTime    = 10 * time.Second
	bodyTime      = time.Minute
	answerTime    = 5 * time.Minute // from the header of a request to the end of its answer
	keepAliveTime = 2 * time.Minute
	stopTime      = 10 * time.Second // for calls to end that are stopped
	sessionHeader = "Mcp-Session-Id"
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

// CheckAddress returns what is wrong with the form of an address for [Listen].
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
	stop(wire.ErrStopping)
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
	return &httpHandler{server: s, work: work, listenUntil: listenUntil, opts: opts, cancels: map[cancelKey]func(){}}
}

type httpHandler struct {
	server    *Server
	opts      HTTPOptions
	bodies    bodyBudget
	listening atomic.Int64 // requests
	// Calls end with work, and requests that listen with listenUntil.
	work, listenUntil context.Context

	mu      sync.Mutex
	cancels map[cancelKey]func()
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
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q", h.server.cfg.Name))
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
		wire.RefuseBeginning(nil, jsonrpc.CodeInvalidRequest, why).Write(w, status)
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

// post answers one message. Its work ends when the client goes away or cancels.
func (h *httpHandler) post(w http.ResponseWriter, r *http.Request) {
	body := &budgetReader{r: http.MaxBytesReader(w, r.Body, wire.MaxMessage), budget: &h.bodies, conn: http.NewResponseController(w), until: time.Now().Add(bodyTime)}
	defer body.release()
	text, ok := readBody(w, r, body)
	body.arrived()
	if !ok {
		return
	}
	msg, refused := wire.Decode(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff"))))
	modern := r.Header.Get(versionHeader) >= wire.Stateless
	switch {
	case refused != nil:
		refused.Write(w, http.StatusBadRequest)
		return
	case msg == nil: // an answer nobody waits for
		w.WriteHeader(http.StatusAccepted)
		return
	case !msg.IsCall():
		h.cancel(r, msg)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if status, refused := checkRequest(r.Header, msg); refused != nil {
		refused.Write(w, status)
		return
	}
	end := h.work
	if msg.Listens() {
		defer h.listening.Add(-1)
		switch {
		case h.listening.Add(1) > maxListening:
			refuseBusy(w, msg.Refuse(wire.CodeBusy, fmt.Sprintf("Busy: %d requests listen already.", maxListening)))
			return
		case len(text) > smallBody:
			msg.Refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("A request that listens has at most %d bytes.", smallBody)).Write(w, http.StatusRequestEntityTooLarge)
			return
		}
		end = h.listenUntil
	}
	ctx, stop := context.WithCancelCause(r.Context())
	defer stop(nil)
	defer context.AfterFunc(end, func() { stop(wire.ErrStopping) })()
	state := &mcp.ServerSessionState{}
	if !modern {
		defer h.track(w, r, msg, func() { stop(nil) })()
		if msg.Method != "initialize" {
			// The session that this request stands for has begun long ago.
			version := cmp.Or(r.Header.Get(versionHeader), unsaidVersion)
			state.InitializeParams, state.InitializedParams = &mcp.InitializeParams{ProtocolVersion: version}, &mcp.InitializedParams{}
		}
	}
	msg.Extra = &mcp.RequestExtra{Header: r.Header}
	err := wire.ServePost(ctx, w, msg, modern, func(c *wire.Conn) (*mcp.ServerSession, error) {
		return h.server.sdk.Connect(wire.WithConnection(ctx, c), c, &mcp.ServerSessionOptions{State: state})
	})
	if err != nil {
		h.server.log.Error("failed", "method", msg.Method, "cause", err)
		msg.Refuse(jsonrpc.CodeInternalError, failedMessage).Write(w, http.StatusInternalServerError)
	}
}

// readBody returns the body of a request, or refuses it.
func readBody(w http.ResponseWriter, r *http.Request, body io.Reader) (text []byte, ok bool) {
	text, err := readParts(body, int(min(max(r.ContentLength, 0), smallBody))+1) // which it may say and not send
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		wire.RefuseBeginning(text, jsonrpc.CodeInvalidRequest, fmt.Sprintf("The message is longer than %d bytes and was not read.", wire.MaxMessage)).Write(w, http.StatusRequestEntityTooLarge)
	case errors.Is(err, errBusy):
		refuseBusy(w, wire.RefuseBeginning(text, wire.CodeBusy, "Busy: too many requests wait for an answer. Send this one again later."))
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		wire.RefuseBeginning(text, jsonrpc.CodeInvalidRequest, "The body did not arrive in time.").Write(w, http.StatusRequestTimeout)
	case err != nil:
		wire.RefuseBeginning(nil, jsonrpc.CodeInvalidRequest, "The body could not be read.").Write(w, http.StatusBadRequest)
	default:
		return text, true
	}
	return nil, false
}

func refuseBusy(w http.ResponseWriter, refused *wire.Refusal) {
	w.Header().Set("Retry-After", "1")
	refused.Write(w, http.StatusServiceUnavailable)
}

// track keeps the books of the era with sessions: which request a client means
// when it cancels one. done takes the request off them.
func (h *httpHandler) track(w http.ResponseWriter, r *http.Request, msg *wire.Message, cancel func()) (done func()) {
	session := r.Header.Get(sessionHeader)
	switch {
	case msg.Method == "initialize":
		w.Header().Set(sessionHeader, rand.Text())
		fallthrough
	case session == "":
		return func() {}
	}
	key := cancelKey{session, msg.ID}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancels[key] != nil {
		return func() {} // the id is in use; the first request keeps it
	}
	h.cancels[key] = cancel
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.cancels, key)
	}
}

// cancel cancels the request that a notification of the era with sessions names.
func (h *httpHandler) cancel(r *http.Request, msg *wire.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cancel := h.cancels[cancelKey{r.Header.Get(sessionHeader), wire.CanceledID(msg)}]; cancel != nil {
		cancel()
	}
}

// cancelKey names a request by the session of its client, and its id.
type cancelKey struct {
	session string
	id      jsonrpc.ID
}
