package web

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// isOfAnotherUser reports whether another user of this machine, except root, has opened a connection. It returns false
// if the system does not say who has.
func isOfAnotherUser(c net.Conn) bool {
	for _, name := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		table, _, err := safefile.Open(name)
		if err != nil {
			continue
		}
		user := userOf(table, c.RemoteAddr(), c.LocalAddr()) // of the socket at the other end of c
		_ = table.Close()                                    // it was read
		if user != "" {
			return user != "0" && user != strconv.Itoa(os.Getuid())
		}
	}
	return false
}

// userOf returns the id of the user of a socket with a local and a remote address of IPv4, from a table of sockets:
// https://docs.kernel.org/networking/proc_net_tcp.html. It returns "" if the table does not have the socket.
func userOf(table io.Reader, local, remote net.Addr) string {
	from, to := socketName(local), socketName(remote)
	for lines := bufio.NewScanner(table); lines.Scan(); {
		const userField = 7
		fields := strings.Fields(lines.Text())
		// An address of IPv6 ends with the one of IPv4 that it stands for.
		if len(fields) > userField && strings.HasSuffix(fields[1], from) && strings.HasSuffix(fields[2], to) {
			return fields[userField]
		}
	}
	return ""
}

// socketName returns an address as the tables of sockets have it.
func socketName(address net.Addr) string {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || tcp.IP.To4() == nil {
		return "none"
	}
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(tcp.IP.To4()), tcp.Port)
}
