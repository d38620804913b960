package facts

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// FuzzBook has whatever bytes as the facts of a file, with the right checksum.
func FuzzBook(f *testing.F) {
	f.Add([]byte(newTable(map[string]*fact{"ma": {stamp: []byte("stamp"), data: []byte("data"), used: 7}, "eb": {}})))
	f.Add([]byte{})
	f.Add([]byte{2, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		dir := t.TempDir()
		data := append(binary.LittleEndian.AppendUint32([]byte(head), checksum(body)), body...)
		b := In(dir, Options{Least: 1}).Of("kind", "/place")
		if err := os.WriteFile(filepath.Join(dir, b.name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"ma", "eb", ""} {
			b.get([]byte(key), []byte("stamp"))
		}
		b.put([]byte("new"), nil, []byte("data"), 1<<40)
		b.Save()
		again := In(dir, Options{}).Of("kind", "/place")
		if got, ok := again.get([]byte("new"), nil); !ok || string(got) != "data" {
			t.Errorf("%q is kept", got)
		}
	})
}
