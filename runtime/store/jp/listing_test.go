package jp

import "testing"

// TestVersion tests that the version changes with the metadata, the events and the archive.
func TestVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "ten")
	version := func() string {
		t.Helper()
		s, _, err := f.open().open()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		c, err := s.find(t.Context(), "jp-c10")
		if err != nil {
			t.Fatal(err)
		}
		v, err := c.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	f.age(inProject+"10/metadata.json", 1)
	f.age(inProject+"10/events.json", 1)
	seen := map[string]string{version(): "before"}
	if v := version(); seen[v] != "before" {
		t.Errorf("nothing changed, and the version is %q", v)
	}
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"metadata", func() { f.age(inProject+"10/metadata.json", 2) }},
		{"events", func() { f.age(inProject+"10/events.json", 3) }},
		{"archived", func() { f.rename(inProject+"10", inProject+".archive/10") }},
	} {
		change.do()
		v := version()
		if before, ok := seen[v]; ok {
			t.Errorf("%s: the version is that of %s", change.name, before)
		}
		seen[v] = change.name
	}
}
