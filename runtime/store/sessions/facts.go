package sessions

import "github.com/convtools/convtools/runtime/store/facts"

// The kinds of facts.
const (
	factInfos  = 'i' // what the log of a session has
	factEvents = 'e'
)

// stamp returns the stamp of a log; none where nothing is kept.
func (o *opened) stamp(file string) facts.Stamp {
	if o.dir == nil {
		return facts.Stamp{}
	}
	stamp, _ := facts.At(o.dir, file) // without one it is read
	return stamp
}

// encode returns what the log of a session has of its conversations.
func encode(all []*info) []byte {
	b := facts.AppendInt(nil, int64(len(all)))
	for _, i := range all {
		for _, text := range []string{i.session, i.root, i.id, i.parent, i.title, i.settings.Dir, i.fork} {
			b = facts.AppendString(b, text)
		}
		b = facts.AppendBool(b, i.settings.Hidden)
		b = facts.AppendTime(facts.AppendTime(b, i.opened), i.last)
	}
	return b
}

// decode is the reverse of encode. It reports whether that could be read.
func decode(data []byte) (all []*info, ok bool) {
	d := facts.Decode(data)
	for n := d.Int(); n > 0 && !d.Bad(); n-- {
		i := &info{said: true}
		for _, text := range []*string{&i.session, &i.root, &i.id, &i.parent, &i.title, &i.settings.Dir, &i.fork} {
			*text = d.String()
		}
		i.settings.Hidden = d.Bool()
		i.opened, i.last = d.Time(), d.Time()
		all = append(all, i)
	}
	return all, d.OK()
}
