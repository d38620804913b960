package install

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestGroupThatIsLost replaces files whose user is not in their group. The group
// they get instead may not do what the other one could.
func TestGroupThatIsLost(t *testing.T) {
	t.Parallel()
	const user, theirs = 65534, 60
	if os.Getuid() != 0 {
		t.Skip("only root can make a file of a group that its user is not in")
	}
	for _, test := range []struct {
		name       string
		list       bool // whether there is an access control list
		mode, want fs.FileMode
	}{
		{"secret", false, 0o640, 0o600},
		{"public", false, 0o644, 0o644},
		{"list", true, 0o640, 0o600},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			put(t, path, "before")
			if test.list {
				if err := unix.Setxattr(path, accessList, groupList(t), 0); err != nil {
					t.Skipf("this file system has no %s: %v", accessList, err)
				}
			}
			for _, err := range []error{
				os.Chmod(path, test.mode), os.Chmod(filepath.Dir(dir), 0o755), os.Chown(dir, user, user), os.Chown(path, user, theirs),
			} {
				if err != nil {
					t.Skipf("files cannot be given away: %v", err)
				}
			}
			asUser(t, user, func() {
				if holds(path, []byte("before")) {
					if err := (records{dir, swap}).replace(path, []byte("before"), []byte("after"), test.mode); err != nil {
						t.Error(err)
					}
				}
			})
			if holds(path, []byte("before")) {
				t.Skip("the folder for temporary files is closed to other users")
			}
			var stat unix.Stat_t
			if err := unix.Stat(path, &stat); err != nil {
				t.Fatal(err)
			}
			if stat.Uid != user || stat.Gid != user || fs.FileMode(stat.Mode).Perm() != test.want {
				t.Errorf("it is %d:%d %04o, want %d:%d %04o", stat.Uid, stat.Gid, stat.Mode&0o777, user, user, test.want)
			}
		})
	}
}

// groupList is an access control list by which the group may read, and so may
// another user; linux/posix_acl_xattr.h.
func groupList(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, part := range []any{
		uint32(2),
		uint16(1), uint16(6), int32(-1), // ACL_USER_OBJ
		uint16(2), uint16(4), int32(12345), // ACL_USER
		uint16(4), uint16(4), int32(-1), // ACL_GROUP_OBJ
		uint16(0x10), uint16(4), int32(-1), // ACL_MASK
		uint16(0x20), uint16(0), int32(-1), // ACL_OTHER
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// asUser calls a function with the access to files that a user has who is in the
// group of the same number.
func asUser(t *testing.T, id int, do func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and it ends with this goroutine
		err := unix.Setfsgid(id)
		if err == nil {
			err = unix.Setfsuid(id)
		}
		if err == nil {
			do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Skipf("this process cannot act for another user: %v", err)
	}
}
