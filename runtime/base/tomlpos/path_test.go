package tomlpos

import (
	"strconv"
	"strings"
)

// String returns the path as a person would write it: a.b[2]."c d".
func (p Path) String() string {
	var b strings.Builder
	for i, step := range p {
		switch {
		case step.elem:
			b.WriteString("[" + strconv.Itoa(step.index) + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		if isBareKey(step.key) {
			b.WriteString(step.key)
		} else {
			b.WriteString(strconv.Quote(step.key))
		}
	}
	return b.String()
}

func isBareKey(s string) bool {
	for i := range len(s) {
		if !isBareKeyByte(s[i]) {
			return false
		}
	}
	return s != ""
}
