package index

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps the first bytes of a file into memory. While it is mapped it cannot be
// removed: that is left to the next who writes.
func mapFile(f *os.File, size int) (data []byte, unmap func(), err error) {
	mapping, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, &os.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	defer windows.CloseHandle(mapping) //nolint:errcheck // the view keeps it
	at, err := windows.MapViewOfFile(mapping, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, nil, &os.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	// The address is that of no Go object, so it stays where it is.
	data = unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), size)
	return data, func() { _ = windows.UnmapViewOfFile(at) }, nil
}
