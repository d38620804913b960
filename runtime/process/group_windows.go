//go:build windows

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// errNotDirectory is the error of looking for a file below a file.
var errNotDirectory error = windows.ERROR_DIRECTORY

// group is a job object with the started program and all that it starts. If there can be no job (a host may forbid
// nested ones), job is 0 and only the program itself is killed.
type group struct {
	job     windows.Handle
	process *os.Process
}

// startGroup starts child in a new job. The job gets it right after its start, before it can have started anything.
func startGroup(child *exec.Cmd) (*group, error) {
	child.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, // terminate needs it
		HideWindow:    true,
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	g := &group{process: child.Process}
	if job, err := newJob(); err == nil {
		err := child.Process.WithHandle(func(handle uintptr) {
			if windows.AssignProcessToJobObject(job, windows.Handle(handle)) == nil {
				g.job = job
			}
		})
		if err != nil || g.job == 0 {
			_ = windows.CloseHandle(job)
		}
	}
	return g, nil
}

// newJob creates a job whose processes are killed when its last handle is closed, also by the end of this process.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// terminate asks the processes that share our console to end. It fails if there is no console.
func (g *group) terminate() error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.process.Pid))
}

// kill kills every process that the group still has.
func (g *group) kill() {
	if g.job == 0 {
		_ = g.process.Kill()
		return
	}
	_ = windows.TerminateJobObject(g.job, 1)
}

func (g *group) close() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}

// fatalSignal returns the exception that ended the process, an exit code of severity "error", or false for none.
func fatalSignal(state *os.ProcessState) (string, bool) {
	code := uint32(state.ExitCode())
	if code < 0xC0000000 || code >= 0xD0000000 {
		return "", false
	}
	return fmt.Sprintf("exception 0x%08X", code), true
}

func isBadFormat(err error) bool { return errors.Is(err, windows.ERROR_BAD_EXE_FORMAT) }

func isTooLong(err error) bool { return errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE) }
