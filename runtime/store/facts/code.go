package facts

import (
	"encoding/binary"
	"time"
)

// Append functions write values, one behind the other, as a [Decoder] reads them.

// AppendInt appends a number.
func AppendInt(dst []byte, n int64) []byte { return binary.AppendVarint(dst, n) }

// AppendBool appends a truth value.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendString appends a text.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// AppendTime appends a time, which is read in UTC.
func AppendTime(dst []byte, t time.Time) []byte {
	dst = binary.AppendVarint(dst, t.Unix())
	return binary.AppendUvarint(dst, uint64(t.Nanosecond())) //nolint:gosec // positive
}

// Decoder reads values that were appended to one another. What cannot be read is zero.
type Decoder struct {
	data []byte
	bad  bool
}

// Decode begins to read values.
func Decode(data []byte) Decoder { return Decoder{data: data} }

// OK reports whether all values could be read, and there are no others.
func (d *Decoder) OK() bool { return !d.bad && len(d.data) == 0 }

// Bad reports whether something could not be read.
func (d *Decoder) Bad() bool { return d.bad }

// Int reads a number.
func (d *Decoder) Int() int64 {
	v, n := binary.Varint(d.data)
	return v * d.skip(n)
}

// Bool reads a truth value.
func (d *Decoder) Bool() bool {
	if len(d.data) == 0 {
		d.bad = true
		return false
	}
	v := d.data[0]
	d.data = d.data[1:]
	return v != 0
}

// String reads a text.
func (d *Decoder) String() string { return string(d.bytes()) }

// Time reads a time.
func (d *Decoder) Time() time.Time {
	seconds := d.Int()
	nanos, n := binary.Uvarint(d.data)
	if d.skip(n); d.bad || nanos >= uint64(time.Second) {
		d.bad = true
		return time.Time{}
	}
	return time.Unix(seconds, int64(nanos)).UTC()
}

// Fixed returns the next bytes, so many, of the data itself; nil where there are fewer.
func (d *Decoder) Fixed(n int) []byte {
	if d.bad || len(d.data) < n {
		d.bad = true
		return nil
	}
	v := d.data[:n:n]
	d.data = d.data[n:]
	return v
}

func (d *Decoder) bytes() []byte {
	size, n := binary.Uvarint(d.data)
	if d.skip(n); d.bad || size > uint64(len(d.data)) {
		d.bad = true
		return nil
	}
	v := d.data[:size:size]
	d.data = d.data[size:]
	return v
}

// skip skips the bytes of a number, n or none where it cannot be read, and returns 1 or 0.
func (d *Decoder) skip(n int) int64 {
	if d.bad || n <= 0 {
		d.bad = true
		return 0
	}
	d.data = d.data[n:]
	return 1
}
