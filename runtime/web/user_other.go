//go:build !linux

package web

import "net"

// isOfAnotherUser returns false: the system does not name the user of a connection.
func isOfAnotherUser(net.Conn) bool { return false }
