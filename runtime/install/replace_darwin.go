package install

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// exchange has two files change places.
func exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) { // a file system that cannot
		err = errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

// cloneACL is CLONE_ACL of sys/clonefile.h.
const cloneACL = 0x4

// create makes a file that is to be like another one: a clone of that, which has
// its access control list and extended attributes. A file system that cannot
// clone has it begin as a new one.
func create(path, like string) (*os.File, error) {
	if unix.Clonefile(like, path, unix.CLONE_NOFOLLOW|cloneACL) == nil {
		f, _, err := safefile.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		return f, err
	}
	return createNew(path)
}

// keepAttributes does nothing: a clone has them.
func keepAttributes(*os.File, string) error { return nil }
