//go:build !windows && (!unix || solaris || aix)

package index

import (
	"io"
	"os"
)

// mapFile reads the first bytes of a file into memory.
func mapFile(f *os.File, size int) (data []byte, unmap func(), err error) {
	data = make([]byte, size)
	if _, err = io.ReadFull(f, data); err != nil {
		return nil, nil, &os.PathError{Op: "read", Path: f.Name(), Err: err}
	}
	return data, func() {}, nil
}
