package filecache

import "testing"

// FuzzCache loads any bytes as saved values.
func FuzzCache(f *testing.F) {
	f.Add([]byte("\x02ma\x05stamp\x04data\x02eb\x00\x00"))
	f.Add([]byte{})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, saved []byte) {
		of := func(saved []byte) *Cache { return New(func() []byte { return saved }) }
		c := of(saved)
		for _, key := range []string{"ma", "eb", ""} {
			c.Get(key)
		}
		c.Put("new", []byte("data"))
		if got := of(c.Append(nil)).Get("new"); string(got) != "data" {
			t.Errorf("%q is cached", got)
		}
	})
}
