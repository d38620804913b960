package web

import "syscall"

// apart starts a program in a group of its own: Ctrl-C is not for it.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
