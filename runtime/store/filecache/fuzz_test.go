package filecache

import (
	"encoding/binary"
	"os"
	"testing"
)

// FuzzBook has whatever bytes as a book, with the right checksum.
func FuzzBook(f *testing.F) {
	f.Add([]byte("\x01\x01\x02ma\x05stamp\x04data\x07\x02eb\x00\x00"))
	f.Add([]byte{})
	f.Add([]byte{2, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		dir := In(t.TempDir(), "")
		dir.Least = 1
		b := dir.Of("kind", "/place")
		data := append(binary.LittleEndian.AppendUint32([]byte(head("")), checksum(body)), body...)
		if err := os.WriteFile(b.path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"ma", "eb", ""} {
			b.get(key, []byte("stamp"))
		}
		b.put("new", nil, []byte("data"), 1<<40)
		b.Save()
		if got, ok := In(dir.path, "").Of("kind", "/place").get("new", nil); !ok || string(got) != "data" {
			t.Errorf("%q is kept", got)
		}
	})
}
