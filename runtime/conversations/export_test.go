package conversations

import (
	"github.com/convtools/convtools/runtime/store/facts"
)

// SetFacts sets how stores keep what they read.
func (x *Indexes) SetFacts(dir string, o facts.Options) {
	x.factsAt, x.factsOptions, x.facts = dir, o, nil
}
