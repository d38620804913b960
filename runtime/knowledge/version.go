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
	stamps map[string]stamp // by path
	again  bool             // the times of files do not show the next change yet
}

// stamp is when a file or directory was changed last, in nanoseconds, and its size; zero
// where there is none, or it cannot be looked at.
type stamp struct{ changed, size int64 }

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime().UnixNano(), info.Size()}
}

func (w *watch) unchanged() bool {
	for path, before := range w.stamps {
		if stampOf(path) != before {
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
	stamps := map[string]stamp{}
	value := f.look(ctx, func(path string) { stamps[path] = stampOf(path) })
	if ctx.Err() != nil {
		return f.value // A look that was cut off has not seen everything.
	}
	f.value, f.stamps, f.again = value, stamps, false
	recent := f.host.Now().Add(-settled).UnixNano()
	for _, s := range stamps {
		f.again = f.again || s.changed > recent
	}
	return f.value
}

// look returns a hash of what a version depends on, and before it looks at anything
// whose change may change that, it calls watched.
func (f *family) look(ctx context.Context, watched func(path string)) string {
	for _, path := range kbconfig.Paths(located(f.host.Dir, f.host.Getenv), f.host.Getenv) {
		watched(path)
	}
	hash := sha256.New()
	b, err := f.open("")
	if err != nil {
		fmt.Fprintf(hash, "%v", err)
		return string(hash.Sum(nil))
	}
	for _, config := range b.enabled() {
		fmt.Fprintf(hash, "%q%q%q", config.ID, config.Title, config.Introduction)
		watched(b.dir(config))
		t, err := b.scan(ctx, config)
		if err != nil {
			fmt.Fprintf(hash, "%v", err)
			continue
		}
		for _, below := range t.tree.Dirs {
			watched(filepath.Join(b.dir(config), filepath.FromSlash(below)))
		}
		for _, i := range t.set.Visible() {
			fmt.Fprintf(hash, "%q%v", t.tree.Subjects[i].Name, t.set.Learned(i))
		}
		t.close()
	}
	return string(hash.Sum(nil))
}
