package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/process"
)

// The commands under test are this test binary, started again as
//
//	<binary> helper MODE [ARG]...
//
// A mode that takes an ADDR connects there, says its name, and keeps the
// connection for as long as it lives: a test learns from it that the process is
// up and, once the system has closed the connection, that it is gone. A helper
// whose test is gone ends by itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		// Not os.Exit: under -cover that prints a warning to stderr first.
		syscall.Exit(helper(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

func helper(mode string, args []string) int {
	switch mode {
	case "args":
		for _, arg := range args {
			fmt.Printf("%q\n", arg)
		}
	case "env":
		for _, entry := range os.Environ() {
			fmt.Println(entry)
		}
	case "dir":
		dir, err := os.Getwd()
		fail(err)
		fmt.Print(dir)
	case "cat":
		_, err := io.Copy(os.Stdout, os.Stdin)
		fail(err)
	case "print": // STDOUT STDERR CODE
		fmt.Print(args[0])
		fmt.Fprint(os.Stderr, args[1])
		return number(args[2])
	case "bytes": // COUNT
		os.Stdout.WriteString(strings.Repeat("x", number(args[0])))
	case "numbered-stderr": // COUNT
		for i := range number(args[0]) {
			fmt.Fprintf(os.Stderr, "line %d\n", i)
		}
	case "hang": // ADDR NAME: ends only when killed
		ignoreTermination()
		report(args[0], args[1])
	case "polite": // ADDR NAME: ends on request, by signal or release
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
		conn := connect(args[0], args[1])
		go func() {
			awaitRelease(conn)
			asked <- os.Interrupt
		}()
		<-asked
		fmt.Fprintln(conn, "asked to stop")
		fmt.Fprintln(os.Stderr, "stopping")
		conn.Close()
	case "flood": // ADDR NAME: once released, prints without end
		awaitRelease(connect(args[0], args[1]))
		chunk := []byte(strings.Repeat("flood ", 1000))
		for {
			os.Stdout.Write(chunk)
		}
	case "flood-stderr": // ADDR NAME: the same, to standard error
		awaitRelease(connect(args[0], args[1]))
		chunk := []byte(strings.Repeat("no such shelf\n", 1000))
		for {
			os.Stderr.Write(chunk)
		}
	case "tree": // ADDR: leader and child both hang
		start(exec.Command(os.Args[0], "helper", "hang", args[0], "child"), true)
		return helper("hang", []string{args[0], "leader"})
	case "leave-behind": // ADDR CODE CHILD: once released, ends; its child, of that mode, holds the output
		fmt.Println("leader's output")
		start(exec.Command(os.Args[0], "helper", args[2], args[0], "child"), true)
		awaitRelease(connect(args[0], "leader"))
		return number(args[1])
	case "leave-behind-quietly": // ADDR: the same, but the child has no hold on the output
		start(exec.Command(os.Args[0], "helper", "hang", args[0], "child"), false)
		awaitRelease(connect(args[0], "leader"))
	default:
		return platformHelper(mode, args)
	}
	return 0
}

func start(cmd *exec.Cmd, holdOutput bool) {
	if holdOutput {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	}
	fail(cmd.Start())
}

func ignoreTermination() { signal.Ignore(os.Interrupt, syscall.SIGTERM) }

func connect(addr, name string) net.Conn {
	conn, err := net.Dial("tcp", addr)
	fail(err)
	fmt.Fprintln(conn, name)
	return conn
}

// report connects and blocks until the test gives up on this process.
func report(addr, name string) {
	conn := connect(addr, name)
	io.Copy(io.Discard, conn)
}

// awaitRelease blocks until the test says so, or is gone.
func awaitRelease(conn net.Conn) { conn.Read(make([]byte, 1)) }

func number(s string) int {
	n, err := strconv.Atoi(s)
	fail(err)
	return n
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		os.Exit(99)
	}
}

// patience is how long a failing test waits.
const patience = 30 * time.Second

func helperCommand(mode string, args ...string) process.Command {
	return process.Command{Path: os.Args[0], Args: append([]string{"helper", mode}, args...)}
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// monitor accepts the connections of helpers.
type monitor struct {
	t        *testing.T
	listener *net.TCPListener
}

func newMonitor(t *testing.T) *monitor {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return &monitor{t: t, listener: listener}
}

func (m *monitor) addr() string { return m.listener.Addr().String() }

// member is a helper process.
type member struct {
	t    *testing.T
	name string
	conn net.Conn
	in   *bufio.Reader
}

// await waits for count helpers and returns them by name.
func (m *monitor) await(count int) map[string]*member {
	m.t.Helper()
	members := map[string]*member{}
	m.listener.SetDeadline(time.Now().Add(patience))
	for range count {
		conn, err := m.listener.Accept()
		if err != nil {
			m.t.Fatalf("waiting for %d helpers, have %d: %v", count, len(members), err)
		}
		m.t.Cleanup(func() { conn.Close() })
		conn.SetReadDeadline(time.Now().Add(patience))
		in := bufio.NewReader(conn)
		name, err := in.ReadString('\n')
		if err != nil {
			m.t.Fatalf("a helper died before it gave its name: %v", err)
		}
		name = strings.TrimSpace(name)
		members[name] = &member{t: m.t, name: name, conn: conn, in: in}
	}
	return members
}

// release lets a waiting helper go on.
func (p *member) release() {
	p.t.Helper()
	if _, err := p.conn.Write([]byte("\n")); err != nil {
		p.t.Fatal(err)
	}
}

// gone waits until the process is dead and returns its last output.
func (p *member) gone() string {
	p.t.Helper()
	p.conn.SetReadDeadline(time.Now().Add(patience))
	last, err := io.ReadAll(p.in)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Errorf("process %q is still alive", p.name)
	}
	return string(last)
}

// allGone checks that all helpers that have connected are gone.
func (m *monitor) allGone() {
	m.t.Helper()
	for {
		m.listener.SetDeadline(time.Now().Add(10 * time.Millisecond))
		conn, err := m.listener.Accept()
		if err != nil {
			return // none is waiting to be accepted
		}
		(&member{t: m.t, name: "not awaited", conn: conn, in: bufio.NewReader(conn)}).gone()
		conn.Close()
	}
}

// run is a Run in progress.
type run struct {
	result process.Result
	err    error
	done   chan struct{}
}

func startRun(ctx context.Context, cmd process.Command) *run {
	r := &run{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.result, r.err = process.Exec{}.Run(ctx, cmd)
	}()
	return r
}

func (r *run) wait(t *testing.T) (process.Result, error) {
	t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		t.Fatal("Run hangs")
	}
	return r.result, r.err
}

func wantKind(t *testing.T, err error, kind process.Kind) *process.Error {
	t.Helper()
	var e *process.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want a *process.Error of kind %d", err, kind)
	}
	if e.Kind != kind {
		t.Fatalf("got an error of kind %d (%v), want %d", e.Kind, e, kind)
	}
	return e
}

func wantContains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
}
