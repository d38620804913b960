//go:build unix

package process_test

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

func platformHelper(mode string, args []string) int {
	switch mode {
	case "kill-itself": // SIGNAL
		os.Stderr.WriteString("about to go\n")
		syscall.Kill(os.Getpid(), syscall.Signal(number(args[0])))
		time.Sleep(time.Hour) // not select {}: Go would report a deadlock
	case "leave-escaped": // ADDR: once released, ends; its child is in a session of its own
		cmd := exec.Command(os.Args[0], "helper", "hang", args[0], "escaped")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		start(cmd, true)
		awaitRelease(connect(args[0], "leader"))
		return 0
	}
	return 98
}
