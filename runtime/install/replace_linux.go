package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// exchange has two files change places.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) { // a file system, or a sandbox, that cannot
		err = errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

// accessList is the attribute with a file's access control list. Where there is
// one, the mode has its mask in place of what the group may do: without the list,
// that would be given to the group.
const accessList = "system.posix_acl_access"

// create makes a file that is to be like another one.
func create(path, _ string) (*os.File, error) { return createNew(path) }

// keepAttributes gives an open file the attributes of another one, and takes an
// access control list away that it may have from its folder.
func keepAttributes(f *os.File, like string) error {
	fd := int(f.Fd())
	names, err := attribute(func(buf []byte) (int, error) { return unix.Listxattr(like, buf) })
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTSUP):
		return nil
	case err != nil:
		return fmt.Errorf("listing the attributes it has to keep: %w", err)
	}
	list := strings.Split(string(names), "\x00")
	for _, name := range list {
		// What the kernel's security modules keep is theirs: sums of the contents
		// and the like. A label is kept where they let it be.
		label := name == "security.selinux"
		if name == "" || !label && !strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "system.") {
			continue
		}
		value, err := attribute(func(buf []byte) (int, error) { return unix.Getxattr(like, name, buf) })
		if err == nil {
			err = setAttribute(fd, name, value)
		}
		if err != nil && !label {
			return fmt.Errorf("its attribute %s cannot be kept: %w", name, err)
		}
	}
	if slices.Contains(list, accessList) {
		return nil
	}
	if err := unix.Fremovexattr(fd, accessList); err != nil && !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.ENOTSUP) {
		return fmt.Errorf("taking away the access control list that its folder gives: %w", err)
	}
	return nil
}

// setAttribute sets an attribute unless it is that already.
func setAttribute(fd int, name string, value []byte) error {
	there, err := attribute(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
	if err == nil && bytes.Equal(there, value) {
		return nil
	}
	return unix.Fsetxattr(fd, name, value, 0)
}

// attribute calls a function that fills a buffer, and returns how much it is,
// with one that is large enough: attributes, and lists of them, have at most
// 64 KiB, https://man7.org/linux/man-pages/man7/xattr.7.html.
func attribute(get func([]byte) (int, error)) ([]byte, error) {
	buf := make([]byte, 64<<10)
	n, err := get(buf)
	return buf[:max(n, 0)], err
}
