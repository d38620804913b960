package recall

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// cursorVersion begins what a cursor holds.
const cursorVersion = 1

var errCursor = errors.New("not a cursor")

// cursor is a position as callers hand it back: a version, whether there is a time, that in
// seconds and nanoseconds, order, number, id, and a checksum, which tells one that was copied
// badly.
func cursor(p *conversations.MessagePosition) string {
	b := []byte{cursorVersion}
	b = binary.AppendVarint(b, p.Time.Unix())
	b = binary.AppendUvarint(b, uint64(p.Time.Nanosecond()))
	b = binary.AppendVarint(b, p.Order)
	b = binary.AppendUvarint(b, uint64(p.Event))
	b = append(b, p.ID...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads what cursor wrote.
func parseCursor(s string) (p conversations.MessagePosition, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 5 || b[0] != cursorVersion {
		return p, errCursor
	}
	sum := binary.BigEndian.Uint32(b[len(b)-4:])
	if b = b[:len(b)-4]; crc32.ChecksumIEEE(b) != sum {
		return p, errCursor
	}
	b = b[1:]
	failed := false
	next := func(n int) {
		if n <= 0 {
			failed, n = true, len(b)
		}
		b = b[n:]
	}
	seconds, n := binary.Varint(b)
	next(n)
	nanos, n := binary.Uvarint(b)
	next(n)
	order, n := binary.Varint(b)
	next(n)
	event, n := binary.Uvarint(b)
	next(n)
	if failed || nanos >= 1e9 || event > 1<<40 {
		return p, errCursor
	}
	return conversations.MessagePosition{
		Time: time.Unix(seconds, int64(nanos)).UTC(), Order: order, ID: transcript.ID(b), Event: int(event),
	}, nil
}
