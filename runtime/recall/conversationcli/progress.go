package conversationcli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive/exports"
)

// progress shows on a terminal how far something is that takes long.
type progress struct {
	out    io.Writer // nil where there is no terminal
	now    func() time.Time
	begun  time.Time
	shown  time.Time
	showed bool
}

const (
	showAfter = time.Second
	showEvery = 200 * time.Millisecond
)

// newProgress returns what shows progress of something that begins now.
func newProgress(stderr io.Writer, now func() time.Time) *progress {
	p := &progress{now: now, begun: now()}
	if out, ok := cli.Terminal(stderr); ok {
		p.out = out
	}
	return p
}

// isDue reports whether to show something.
func (p *progress) isDue() bool {
	now := p.now()
	if p.out == nil || now.Sub(p.begun) < showAfter || now.Sub(p.shown) < showEvery {
		return false
	}
	p.shown, p.showed = now, true
	return true
}

// imported shows how far an import is.
func (p *progress) imported(at exports.Progress) {
	if at.Total == 0 || !p.isDue() {
		return
	}
	const width, mega = 30, 1 << 20
	done := int(min(at.Done*width/at.Total, width))
	fmt.Fprintf(p.out, "\r[%s%s] %d of %d MB, %d conversations ", strings.Repeat("=", done), strings.Repeat(" ", width-done), at.Done/mega, at.Total/mega, at.Conversations)
}

// indexed shows how many conversations of a store were looked at for its index, and nothing once
// these are all.
func (p *progress) indexed(of store.Store, done, all int) {
	if done == all {
		p.clear()
	} else if p.isDue() {
		fmt.Fprintf(p.out, "\r\x1b[Kreading %s: %s of %s conversations", of.Name(), text.Number(done), text.Number(all))
	}
}

// clear leaves nothing of what was shown.
func (p *progress) clear() {
	if p.showed {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.showed = false
	}
}
