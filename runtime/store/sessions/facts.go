package sessions

import "github.com/convtools/convtools/runtime/store/facts"

// The kinds of facts.
const (
	factInfos  = 'i' // what the log of a session has
	factEvents = 'e'
)

// walkInfos walks what the log of a session has of its conversations.
func walkInfos(all *[]*info) func(c *facts.Coder) {
	return func(c *facts.Coder) {
		facts.List(c, all, func(of **info) {
			if *of == nil {
				*of = &info{said: true}
			}
			i := *of
			facts.Text(c, &i.session, &i.root, &i.id, &i.parent, &i.title, &i.request, &i.settings.Dir, &i.fork)
			c.Bool(&i.settings.Hidden)
			c.Time(&i.opened, &i.last)
		})
	}
}
