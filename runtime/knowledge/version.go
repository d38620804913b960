package knowledge

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
)

// settled is how old the last change of a directory has to be for its time to show
// the next one: file systems count in steps, of up to two seconds on FAT.
const settled = 2 * time.Second

// watch notices changes of what can be learned. The names of all subjects are read
// again only when a configuration file or a directory has another time than before.
type watch struct {
	mu     sync.Mutex
	value  string
	paths  []string
	stamps []stamp
	again  bool // the times of files do not show the next change yet
}

// stamp is when a file or directory was changed last, and its size; zero where there
// is none.
type stamp struct {
	changed time.Time
	size    int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{} // What cannot be looked at is as good as missing.
	}
	return stamp{info.ModTime(), info.Size()}
}

func (w *watch) add(path string) {
	w.paths, w.stamps = append(w.paths, path), append(w.stamps, stampOf(path))
}

func (w *watch) unchanged() bool {
	for i, path := range w.paths {
		if now := stampOf(path); now.size != w.stamps[i].size || !now.changed.Equal(w.stamps[i].changed) {
			return false
		}
	}
	return w.value != "" && !w.again
}

// version returns a value that changes with the configuration and with the names
// of subjects. What subjects say does not count.
func (f *family) version(ctx context.Context) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unchanged() {
		return f.value
	}
	now := &watch{}
	now.value = f.look(ctx, now)
	if ctx.Err() != nil {
		return f.value // A look that was cut off has not seen everything.
	}
	f.value, f.paths, f.stamps, f.again = now.value, now.paths, now.stamps, false
	for _, s := range now.stamps {
		f.again = f.again || f.host.Now().Sub(s.changed) < settled
	}
	return f.value
}

// look returns a hash of what a version depends on, and adds everything whose change
// may change it.
func (f *family) look(ctx context.Context, w *watch) string {
	for _, path := range kbconfig.Paths(located(f.host.Dir, f.host.Getenv), f.host.Getenv) {
		w.add(path)
	}
	hash := sha256.New()
	b, err := f.open("")
	if err != nil {
		fmt.Fprintf(hash, "%v", err)
		return string(hash.Sum(nil))
	}
	for _, config := range b.enabled() {
		fmt.Fprintf(hash, "%q%q%q", config.ID, config.Title, config.Introduction)
		w.add(b.dir(config))
		t, err := b.scan(ctx, config)
		if err != nil {
			fmt.Fprintf(hash, "%v", err)
			continue
		}
		for _, below := range t.tree.Dirs {
			w.add(filepath.Join(b.dir(config), filepath.FromSlash(below)))
		}
		for _, i := range t.set.Visible() {
			fmt.Fprintf(hash, "%q%v", t.tree.Subjects[i].Name, t.set.Learned(i))
		}
		t.close()
	}
	return string(hash.Sum(nil))
}
