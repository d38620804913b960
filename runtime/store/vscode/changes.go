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

// apply applies a line to the value. It returns false if the line is no change, or changes a value that is not there.
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

// replace replaces the value at a path of keys and indexes by the result of change, and returns false if there is no
// such place. The last step can be a new key, or the index after the last element: old is nil, and the result is added.
func (l *changes) replace(path []any, change func(old any) any) bool {
	old, set := l.state, func(value any) { l.state = value } // set puts a value in the place of old; each step changes both
	for _, step := range path {
		switch in := old.(type) {
		case map[string]any:
			key, ok := step.(string)
			if !ok {
				return false
			}
			old, set = in[key], func(value any) { in[key] = value }
		case []any:
			n, ok := step.(float64)
			i := int(n)
			switch {
			case !ok || n < 0 || n > float64(len(in)) || float64(i) != n:
				return false
			case i == len(in):
				setArray := set // puts the longer array in the place of the array
				old, set = nil, func(value any) { setArray(append(in, value)) }
			default:
				old, set = in[i], func(value any) { in[i] = value }
			}
		default:
			return false
		}
	}
	set(change(old))
	return true
}
