package facts

import (
	"encoding/binary"
	"time"
)

// Coder appends values to data, or reads them from it, one behind the other: a function that
// walks the values of something in their order does either. What cannot be read is zero.
type Coder struct {
	data       []byte
	reads, bad bool
}

// Encode returns the values that a function walks.
func Encode(walk func(c *Coder)) []byte {
	var c Coder
	walk(&c)
	return c.data
}

// Decode reads the values that a function walks. It reports whether all of them could be read,
// and there are no others.
func Decode(data []byte, walk func(c *Coder)) bool {
	c := Coder{data: data, reads: true}
	walk(&c)
	return !c.bad && len(c.data) == 0
}

// Int walks numbers.
func Int[T ~int | ~int64](c *Coder, all ...*T) {
	for _, v := range all {
		if !c.reads {
			c.data = binary.AppendVarint(c.data, int64(*v))
			continue
		}
		n, size := binary.Varint(c.data)
		if *v = T(n); !c.skip(size) {
			*v = 0
		}
	}
}

// Text walks texts.
func Text[T ~string](c *Coder, all ...*T) {
	for _, v := range all {
		if c.reads {
			*v = T(c.bytes())
		} else {
			c.data = append(binary.AppendUvarint(c.data, uint64(len(*v))), *v...)
		}
	}
}

// Bool walks truth values.
func (c *Coder) Bool(all ...*bool) {
	for _, v := range all {
		one := [1]byte{}
		if *v {
			one[0] = 1
		}
		c.Fixed(one[:])
		*v = one[0] != 0
	}
}

// Time walks times, which are read in UTC.
func (c *Coder) Time(all ...*time.Time) {
	for _, v := range all {
		seconds, nanos := v.Unix(), uint64(v.Nanosecond()) //nolint:gosec // positive
		Int(c, &seconds)
		if !c.reads {
			c.data = binary.AppendUvarint(c.data, nanos)
			continue
		}
		nanos, size := binary.Uvarint(c.data)
		if !c.skip(size) || nanos >= uint64(time.Second) {
			c.bad = true
			*v = time.Time{}
			continue
		}
		*v = time.Unix(seconds, int64(nanos)).UTC()
	}
}

// Fixed walks bytes of which it is known how many they are.
func (c *Coder) Fixed(v []byte) {
	if !c.reads {
		c.data = append(c.data, v...)
		return
	}
	clear(v)
	copy(v, c.take(len(v)))
}

// List walks the elements of a list, behind their number.
func List[T any](c *Coder, list *[]T, each func(*T)) {
	n := len(*list)
	Int(c, &n)
	if c.reads {
		const least = 16 // bytes of an element, about: the number may be a wrong one
		*list = make([]T, 0, max(0, min(n, len(c.data)/least)))
	}
	for i := 0; i < n && !c.bad; i++ {
		if c.reads {
			*list = append(*list, *new(T))
		}
		each(&(*list)[i])
	}
}

// bytes reads bytes behind their number.
func (c *Coder) bytes() []byte {
	size, n := binary.Uvarint(c.data)
	if !c.skip(n) || size > uint64(len(c.data)) {
		c.bad = true
		return nil
	}
	return c.take(int(size)) //nolint:gosec // in range
}

// skip skips the bytes of a number, and reports whether it has any: it cannot be read otherwise.
func (c *Coder) skip(size int) bool {
	c.bad = c.bad || size <= 0
	return !c.bad && c.take(size) != nil
}

// take returns the next bytes, so many, of the data itself; nil where there are fewer.
func (c *Coder) take(n int) []byte {
	if c.bad || len(c.data) < n {
		c.bad = true
		return nil
	}
	v := c.data[:n:n]
	c.data = c.data[n:]
	return v
}
