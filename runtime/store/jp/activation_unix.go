//go:build unix && !solaris && !aix

package jp

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// terminalSession returns the session that the system has this process in.
func terminalSession() (kind, id string) {
	sid, err := unix.Getsid(0)
	if err != nil {
		return "", ""
	}
	return "getsid", strconv.Itoa(sid)
}
