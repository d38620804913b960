package filecache

import "testing"

// FuzzBook has whatever bytes as what was kept.
func FuzzBook(f *testing.F) {
	f.Add([]byte("\x02ma\x05stamp\x04data\x02eb\x00\x00"))
	f.Add([]byte{})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, kept []byte) {
		of := func(kept []byte) *Book { return New(func(string, string) []byte { return kept }).Of("kind", "/place") }
		b := of(kept)
		for _, key := range []string{"ma", "eb", ""} {
			b.get(key, []byte("stamp"))
		}
		b.put("new", nil, []byte("data"))
		if got, ok := of(b.Append(nil)).get("new", nil); !ok || string(got) != "data" {
			t.Errorf("%q is kept", got)
		}
	})
}
