package conversationcli

import (
	"fmt"
	"io"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/store"
)

// progress shows on a terminal how far work is that takes long.
type progress struct {
	out   io.Writer // nil if there is no terminal
	now   func() time.Time
	next  time.Time // of the next line
	shown bool      // there is a line to clear
}

const (
	showAfter = time.Second
	showEvery = 200 * time.Millisecond
	clearLine = "\r\x1b[K"
)

// newProgress returns the progress of work that begins now.
func newProgress(stderr io.Writer, now func() time.Time) *progress {
	p := &progress{now: now, next: now().Add(showAfter)}
	if out, ok := cli.Terminal(stderr); ok {
		p.out = out
	}
	return p
}

// show replaces the line, if the last one is old enough.
func (p *progress) show(format string, args ...any) {
	if now := p.now(); p.out != nil && !now.Before(p.next) {
		p.next, p.shown = now.Add(showEvery), true
		fmt.Fprintf(p.out, clearLine+format, args...)
	}
}

// indexed shows the number of conversations of a store that its index has, until it has all.
func (p *progress) indexed(of store.Store, done, all int) {
	if done == all {
		p.clear()
	} else {
		p.show("reading %s: %s of %s conversations", of.Name(), text.Number(done), text.Number(all))
	}
}

// clear removes the line.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, clearLine)
		p.shown = false
	}
}
