package web

import (
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Tables of sockets, as a kernel on a little-endian machine writes them.
const socketTables = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:8467 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 239 1 0000000075e21f71 100 0 0 10 0
   1: 0100007F:8467 0100007F:946E 01 00000000:00000000 00:00000000 00000000  1000        0 240 1 0000000075e21f72 20 4 30 10 -1
   2: 0100007F:946E 0100007F:8467 01 00000000:00000000 00:00000000 00000000  1001        0 241 1 00000000d9abed3e 20 4 30 10 -1
   3: 0000000000000000FFFF00000100007F:946F 0000000000000000FFFF00000100007F:8467 01 00000000:00000000 00:00000000 00000000  1002        0 242 1 00000000d9abed3f 20 4 30 10 -1
   4: 0100007F:9470
`

func TestUserOf(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH == "s390x" {
		t.Skip("the table is of a little-endian machine")
	}
	at := func(port int) net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }
	for port, want := range map[int]string{0x946e: "1001", 0x946f: "1002", 0x9470: "", 0x946d: ""} {
		if got := userOf(strings.NewReader(socketTables), at(port), at(0x8467)); got != want {
			t.Errorf("port %x is of %q, want %q", port, got, want)
		}
	}
	if got := userOf(strings.NewReader(socketTables), &net.UnixAddr{Name: "x"}, at(0x8467)); got != "" {
		t.Errorf("a socket of another kind is of %q", got)
	}
}

// A connection of another user is closed before a byte is read from it.
func TestConnectionOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can open a connection as another user")
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		c, err := ownListener{listener}.Accept()
		if err == nil {
			_, _ = c.Write([]byte("in"))
			_ = c.Close()
		}
	}()
	dial := func(user int) string {
		answer := make(chan string)
		go func() {
			runtime.LockOSThread() // the thread ends with the function, and so does its user
			_ = syscall.Setfsuid(user)
			c, err := net.Dial("tcp4", listener.Addr().String())
			if err != nil {
				answer <- err.Error()
				return
			}
			defer c.Close()
			said, _ := io.ReadAll(c)
			answer <- string(said)
		}()
		return <-answer
	}
	if got := dial(65534); got != "" {
		t.Errorf("another user gets %q", got)
	}
	if got := dial(os.Getuid()); got != "in" {
		t.Errorf("the user gets %q", got)
	}
}
