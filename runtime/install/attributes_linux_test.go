package install_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// acl is an access control list as Linux keeps it, linux/posix_acl_xattr.h: this
// user may do what owner is, another one may read, the group nothing.
func acl(t *testing.T, owner uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, part := range []any{
		uint32(2),
		uint16(1), owner, int32(-1), // ACL_USER_OBJ
		uint16(2), uint16(4), int32(12345), // ACL_USER
		uint16(4), uint16(0), int32(-1), // ACL_GROUP_OBJ
		uint16(0x10), uint16(4), int32(-1), // ACL_MASK
		uint16(0x20), uint16(0), int32(-1), // ACL_OTHER
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func setAttribute(t *testing.T, path, name string, value []byte) {
	t.Helper()
	if err := syscall.Setxattr(path, name, value, 0); err != nil {
		t.Skipf("this file system has no %s: %v", name, err)
	}
}

func attribute(path, name string) []byte {
	value := make([]byte, 1024)
	n, err := syscall.Getxattr(path, name, value)
	if err != nil {
		return nil
	}
	return value[:n]
}

// TestKeepsAttributes gives a file with a token an access control list. Without
// it, the mask in the mode would be what the group may do.
func TestKeepsAttributes(t *testing.T) {
	t.Parallel()
	const list, own = "system.posix_acl_access", "user.convtools.test"
	d := newDesk(t)
	d.write("home/.claude.json", `{"token": "secret"}`)
	path := d.path("home/.claude.json")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	want := acl(t, 6)
	setAttribute(t, path, list, want)
	setAttribute(t, path, own, []byte("value"))
	check := func(when string) {
		t.Helper()
		if got := attribute(path, list); !bytes.Equal(got, want) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s: the access control list is %x, want %x; the mode is %v", when, got, want, info.Mode())
		}
		if got := attribute(path, own); string(got) != "value" {
			t.Errorf("%s: %s is %q", when, own, got)
		}
	}
	d.install("claude-code")
	check("after installing")
	d.uninstall("claude-code")
	check("after uninstalling")
}

// TestInheritsNoAccess installs into a folder whose new files are open to others.
func TestInheritsNoAccess(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("home/.codex/config.toml", "")
	path := d.path("home/.codex/config.toml")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	setAttribute(t, filepath.Dir(path), "system.posix_acl_default", acl(t, 7))
	d.install("codex")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got := attribute(path, "system.posix_acl_access"); got != nil {
		t.Errorf("there was no access control list, and there is %x", got)
	}
}
