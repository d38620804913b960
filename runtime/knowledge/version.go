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
	mu    sync.Mutex
	value string
	files []stamp
	again bool // the times of files do not show the next change yet
}

// stamp is a file or directory at some moment; info is nil where there is none.
type stamp struct {
	path string
	info os.FileInfo
}

func stampOf(path string) stamp {
	info, _ := os.Stat(path) // What cannot be looked at is as good as missing.
	return stamp{path, info}
}

func (s stamp) same(other stamp) bool {
	if s.info == nil || other.info == nil {
		return s.info == nil && other.info == nil
	}
	return os.SameFile(s.info, other.info) && s.info.ModTime().Equal(other.info.ModTime()) && s.info.Size() == other.info.Size()
}

// version returns a value that changes with the configuration and with the names
// of subjects. What subjects say does not count.
func (f *family) version(ctx context.Context) string {
	w := &f.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.value != "" && !w.again && w.unchanged() {
		return w.value
	}
	value, files := f.look(ctx)
	if ctx.Err() != nil {
		return w.value // A look that was cut off has not seen everything.
	}
	w.value, w.files, w.again = value, files, false
	for _, s := range files {
		w.again = w.again || s.info != nil && f.host.Now().Sub(s.info.ModTime()) < settled
	}
	return value
}

func (w *watch) unchanged() bool {
	for _, s := range w.files {
		if !s.same(stampOf(s.path)) {
			return false
		}
	}
	return true
}

// look returns a hash of what a version depends on, and everything whose change
// may change it, as it was before the look.
func (f *family) look(ctx context.Context) (value string, files []stamp) {
	dir := located(f.host.Dir, f.host.Getenv)
	for _, path := range kbconfig.Paths(dir, f.host.Getenv) {
		files = append(files, stampOf(path))
	}
	hash := sha256.New()
	b, err := f.open("")
	if err != nil {
		fmt.Fprintf(hash, "%v", err)
		return string(hash.Sum(nil)), files
	}
	for _, config := range b.enabled() {
		fmt.Fprintf(hash, "%q%q%q", config.ID, config.Title, config.Introduction)
		top := stampOf(b.dir(config))
		files = append(files, top)
		t, err := b.scan(ctx, config)
		if err != nil {
			fmt.Fprintf(hash, "%v", err)
			continue
		}
		for _, below := range t.tree.Dirs {
			files = append(files, stampOf(filepath.Join(top.path, filepath.FromSlash(below))))
		}
		for _, i := range t.set.Visible() {
			fmt.Fprintf(hash, "%q%v", t.tree.Subjects[i].Name, t.set.Learned(i))
		}
		t.close()
	}
	return string(hash.Sum(nil)), files
}
