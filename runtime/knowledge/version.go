package knowledge

import (
	"context"
	"crypto/sha256"
	"fmt"
)

// version returns a value that changes with the configuration and with the names of subjects.
// What subjects say does not count.
func (f *family) version(ctx context.Context) string {
	hash := sha256.New()
	b, err := f.open("")
	if err != nil {
		fmt.Fprintf(hash, "%v", err)
		return string(hash.Sum(nil))
	}
	for _, config := range b.enabled() {
		fmt.Fprintf(hash, "%q%q%q", config.ID, config.Title, config.Introduction)
		t, err := b.scan(ctx, config)
		if err != nil {
			fmt.Fprintf(hash, "%v", err)
			continue
		}
		for _, i := range t.set.Visible() {
			fmt.Fprintf(hash, "%q%v", t.tree.Subjects[i].Name, t.set.Learned(i))
		}
		t.close()
	}
	return string(hash.Sum(nil))
}
