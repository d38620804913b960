//go:build darwin || freebsd || netbsd

package facts

import "syscall"

func changed(stat *syscall.Stat_t) int64 { return syscall.TimespecToNsec(stat.Ctimespec) }
