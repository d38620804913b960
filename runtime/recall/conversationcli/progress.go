package conversationcli

import (
	"fmt"
	"io"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/store"
)

// progress is a line on a terminal about how far something is that takes long.
type progress struct {
	out  io.Writer // nil where there is no terminal
	now  func() time.Time
	next time.Time // when it is shown again
	last bool      // there is a line to clear
}

const (
	showAfter = time.Second
	showEvery = 200 * time.Millisecond
	clearLine = "\r\x1b[K"
)

// newProgress returns what shows progress of something that begins now.
func newProgress(stderr io.Writer, now func() time.Time) *progress {
	p := &progress{now: now, next: now().Add(showAfter)}
	if out, ok := cli.Terminal(stderr); ok {
		p.out = out
	}
	return p
}

// show shows a line where it is time for that.
func (p *progress) show(format string, args ...any) {
	if now := p.now(); p.out != nil && !now.Before(p.next) {
		p.next, p.last = now.Add(showEvery), true
		fmt.Fprintf(p.out, clearLine+format, args...)
	}
}

// indexed shows how many conversations of a store were looked at for its index, and nothing
// once these are all.
func (p *progress) indexed(of store.Store, done, all int) {
	if done == all {
		p.clear()
	} else {
		p.show("reading %s: %s of %s conversations", of.Name(), text.Number(done), text.Number(all))
	}
}

// clear leaves nothing of what was shown.
func (p *progress) clear() {
	if p.last {
		fmt.Fprint(p.out, clearLine)
		p.last = false
	}
}
