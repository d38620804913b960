package vscode

import "encoding/json"

// changes is a log of changes to a JSON value.
type changes struct{ state any }

// change is a line of the log.
type change struct {
	Kind  int   `json:"kind"`
	Path  []any `json:"k"` // keys, and places in arrays
	Value any   `json:"v"`
	From  *int  `json:"i"` // of elements that are added: the array ends here before them
}

// apply applies a line, and returns false if it is no change, or one of a value that is not there.
func (l *changes) apply(line []byte) bool {
	var c change
	if json.Unmarshal(line, &c) != nil {
		return false
	}
	switch c.Kind {
	case 0: // the whole value
		l.state = c.Value
		return true
	case 1, 3: // another value, or none
		return l.replace(c.Path, func(any) any { return c.Value })
	case 2: // elements at the end of an array
		return l.replace(c.Path, func(old any) any {
			list, _ := old.([]any)
			more, _ := c.Value.([]any)
			if c.From != nil {
				list = list[:max(0, min(*c.From, len(list)))]
			}
			return append(list, more...)
		})
	}
	return false
}

// replace replaces the value at a path by the result of a function, and returns false if there is no place
// for it. A new element follows the others of an array.
func (l *changes) replace(path []any, by func(old any) any) bool {
	at, put := l.state, func(value any) { l.state = value }
	for _, step := range path {
		switch in := at.(type) {
		case map[string]any:
			key, ok := step.(string)
			if !ok {
				return false
			}
			at, put = in[key], func(value any) { in[key] = value }
		case []any:
			n, ok := step.(float64)
			i := int(n)
			switch {
			case !ok || n < 0 || n > float64(len(in)) || float64(i) != n:
				return false
			case i == len(in):
				outer := put
				at, put = nil, func(value any) { outer(append(in, value)) }
			default:
				at, put = in[i], func(value any) { in[i] = value }
			}
		default:
			return false
		}
	}
	put(by(at))
	return true
}
