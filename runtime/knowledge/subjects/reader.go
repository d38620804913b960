package subjects

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// maxBegin is how much of a file a reader reads at most, in bytes. It is enough
// for what front matter may take.
const maxBegin = maxFrontMatter

// reader reads what files begin with, for one goroutine. Files that follow one
// another are mostly in the same folder, which it keeps open for them.
type reader struct {
	tree *Tree
	buf  []byte

	path   string   // of the folder
	folder *os.Root // nil where none is open
	dir    *os.File // the same
}

func (t *Tree) newReader() *reader { return &reader{tree: t, buf: make([]byte, maxBegin)} }

func (r *reader) close() {
	if r.folder != nil {
		r.dir.Close()
		r.folder.Close()
		r.folder = nil
	}
}

// enter opens a folder unless it is the one that is open.
func (r *reader) enter(path string) (err error) {
	if r.folder != nil && r.path == path {
		return nil
	}
	r.close()
	folder, err := safefile.OpenDirNoFollow(r.tree.root, path)
	if err != nil {
		return err
	}
	if r.dir, err = folder.Open("."); err != nil {
		folder.Close()
		return err
	}
	r.path, r.folder = path, folder
	return nil
}

// begin returns up to most bytes that the file of a subject begins with, which are
// the reader's and gone with the next call, and the size of the file.
func (r *reader) begin(s *Subject, most int) (begin []byte, size int64, err error) {
	folder, name := ".", s.file()
	if slash := strings.LastIndexByte(name, '/'); slash >= 0 {
		folder, name = name[:slash], name[slash+1:]
	}
	if err := r.enter(folder); err != nil {
		return nil, 0, reading(s.Path, err)
	}
	if n, size, err := beginOf(r.dir, name, r.buf[:most]); err == nil {
		return r.buf[:n], size, nil
	}
	// This says what is wrong with it.
	f, info, err := safefile.OpenNoFollow(r.folder, name)
	if err != nil {
		return nil, 0, reading(s.Path, err)
	}
	defer f.Close()
	if begin, err = readBegin(f, r.buf[:most]); err != nil {
		return nil, 0, reading(s.Path, err)
	}
	return begin, info.Size(), nil
}

// readBegin fills buf, or as much of it as the file has become too short for.
func readBegin(f *os.File, buf []byte) ([]byte, error) {
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return buf[:n], err
}

// run is how many files in a row one goroutine reads, so that it opens their
// folder once.
const run = 64

// readers is how many goroutines read: they wait for the disk most of the time
// where files are not cached.
func readers(files int) int {
	return min((files+run-1)/run, 2*runtime.GOMAXPROCS(0), 16)
}

// each calls do for 0 to n-1, in a few goroutines. The error is that of the
// context.
func (t *Tree) each(ctx context.Context, n int, do func(i int, r *reader)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range readers(n) {
		wg.Go(func() {
			r := t.newReader()
			defer r.close()
			for {
				first := int(next.Add(run)) - run
				for i := first; i < min(first+run, n); i++ {
					if ctx.Err() != nil {
						return
					}
					do(i, r)
				}
				if first+run >= n {
					return
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// ahead is how many runs of files are read before they are asked for.
const ahead = 4

// content is what came of reading a file.
type content struct {
	Content
	err error
	// skipped reports whether the file is too large to be read before it is asked for:
	// many of them would be much to hold in memory.
	skipped bool
}

// Contents reads subjects of the tree, in their order, as [Tree.Read] does one.
// It reads small files before they are asked for, in a few goroutines that have
// ended when the loop does. Of a larger one it asks whether there is room for its
// bytes, when its turn comes, and does not read it where there is none. The errors are those of single subjects, and last
// that of the context where it has ended.
func (t *Tree) Contents(ctx context.Context, of []*Subject, fits func(size int64) bool) iter.Seq2[Content, error] {
	return func(yield func(Content, error) bool) {
		prefetch, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		runs := make([]chan []content, (len(of)+run-1)/run)
		for i := range runs {
			runs[i] = make(chan []content, 1)
		}
		room := make(chan struct{}, ahead)
		var next atomic.Int64
		for range readers(len(of)) {
			wg.Go(func() {
				r := t.newReader()
				defer r.close()
				for {
					select {
					case room <- struct{}{}:
					case <-prefetch.Done():
						return
					}
					n := int(next.Add(1)) - 1
					if n >= len(runs) {
						return
					}
					runs[n] <- r.contents(prefetch, of[n*run:min((n+1)*run, len(of))])
				}
			})
		}
		for n := range runs {
			var contents []content
			select {
			case contents = <-runs[n]:
				<-room
			case <-ctx.Done():
				yield(Content{}, ctx.Err())
				return
			}
			for i, c := range contents {
				if err := ctx.Err(); err != nil {
					yield(Content{}, err)
					return
				}
				if c.skipped {
					c.Content, c.err = t.read(ctx, of[n*run+i], fits)
				}
				if !yield(c.Content, c.err) {
					return
				}
			}
		}
	}
}

// contents reads files that follow one another.
func (r *reader) contents(ctx context.Context, of []*Subject) []content {
	contents := make([]content, len(of))
	for i, s := range of {
		if err := ctx.Err(); err != nil {
			contents[i].err = err
			continue
		}
		// Most files that are not shown are known by how they begin.
		begin, size, err := r.begin(s, sniffed)
		if err == nil && len(begin) == sniffed && size <= maxBegin && !isBinary(begin) {
			begin, size, err = r.begin(s, maxBegin)
		}
		switch {
		case err != nil:
			contents[i].err = err
		case size <= MaxSize && isBinary(begin):
			contents[i].Content = Content{Size: size, Binary: true}
		case size > maxBegin || len(begin) == maxBegin:
			contents[i].skipped = true
		default:
			contents[i].Content = format(begin, s.Ext)
		}
	}
	return contents
}
