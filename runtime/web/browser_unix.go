//go:build unix

package web

import "syscall"

// apart starts a program in a session of its own: Ctrl-C is not for it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
