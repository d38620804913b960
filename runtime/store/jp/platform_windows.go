package jp

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

// lockFile takes JP's lock on a file, and reports false if another process holds it.
func lockFile(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, ^uint32(0), ^uint32(0), new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// terminalSession returns the window of the console of this process.
func terminalSession() (kind, id string) {
	window, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleWindow").Call()
	if window == 0 {
		return "", ""
	}
	return "hwnd", strconv.FormatUint(uint64(window), 10)
}
