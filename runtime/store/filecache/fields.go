package filecache

import (
	"encoding/binary"
	"time"
)

// Fielder is a value that is kept in a form which is read fast: its fields one after the other.
type Fielder interface {
	// Fields returns pointers to the fields: *int, *int64, *bool, *string and *[time.Time].
	Fields() []any
}

// AppendFields appends the values of fields.
func AppendFields(b []byte, fields []any) []byte {
	for _, f := range fields {
		switch f := f.(type) {
		case *int:
			b = binary.AppendVarint(b, int64(*f))
		case *int64:
			b = binary.AppendVarint(b, *f)
		case *bool:
			n := byte(0)
			if *f {
				n = 1
			}
			b = append(b, n)
		case *string:
			b = append(binary.AppendUvarint(b, uint64(len(*f))), *f...)
		case *time.Time:
			b = binary.AppendVarint(b, f.Unix())
			b = binary.AppendUvarint(b, uint64(f.Nanosecond())) //nolint:gosec // positive
		}
	}
	return b
}

// ReadFields reads what AppendFields appended, and reports whether it was no more and no less.
func ReadFields(data []byte, fields []any) bool {
	for _, f := range fields {
		if len(data) == 0 {
			return false
		}
		switch f := f.(type) {
		case *int:
			*f = int(signed(&data))
		case *int64:
			*f = signed(&data)
		case *bool:
			*f, data = data[0] != 0, data[1:]
		case *string:
			*f = string(part(&data))
		case *time.Time:
			seconds := signed(&data)
			*f = time.Unix(seconds, int64(number(&data)%uint64(time.Second))).UTC() //nolint:gosec // in range
		}
	}
	return len(data) == 0
}

// signed cuts a signed number off data; what is no number is zero, and ends it.
func signed(data *[]byte) int64 {
	n, size := binary.Varint(*data)
	if size <= 0 {
		*data = nil
		return 0
	}
	*data = (*data)[size:]
	return n
}
