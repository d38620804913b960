package jp

import (
	"strconv"

	"golang.org/x/sys/windows"
)

// terminalSession returns the window of the console of this process.
func terminalSession() (kind, id string) {
	window, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleWindow").Call()
	if window == 0 {
		return "", ""
	}
	return "hwnd", strconv.FormatUint(uint64(window), 10)
}
