package filecache

import (
	"encoding/binary"
	"time"
)

// AppendFields appends the values of fields, given by pointers: *int, *int64, *bool, *string and *[time.Time].
func AppendFields(b []byte, fields ...any) []byte {
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
			b = binary.AppendVarint(b, int64(f.Nanosecond()))
		}
	}
	return b
}

// ReadFields sets fields to the values in data, and reports whether data has exactly these fields.
func ReadFields(data []byte, fields ...any) bool {
	for _, f := range fields {
		if len(data) == 0 {
			return false
		}
		switch f := f.(type) {
		case *int:
			*f = int(cutInt(&data))
		case *int64:
			*f = cutInt(&data)
		case *bool:
			*f, data = data[0] != 0, data[1:]
		case *string:
			*f = string(cutBytes(&data))
		case *time.Time:
			seconds := cutInt(&data)
			*f = time.Unix(seconds, cutInt(&data)).UTC()
		}
	}
	return len(data) == 0
}

// cutInt removes a number from the beginning of data and returns it. If there is none, it returns 0 and empties data.
func cutInt(data *[]byte) int64 {
	n, size := binary.Varint(*data)
	*data = (*data)[max(size, 0):]
	if size <= 0 {
		*data = nil
	}
	return n
}

// cutBytes removes a length and so many bytes from the beginning of data, and returns the bytes: fewer if data has fewer.
// If there is no length, it returns none and empties data.
func cutBytes(data *[]byte) []byte {
	n, size := binary.Uvarint(*data)
	rest := (*data)[max(size, 0):]
	n = min(n, uint64(len(rest)))
	*data = rest[n:]
	if size <= 0 {
		*data = nil
	}
	return rest[:n:n]
}
