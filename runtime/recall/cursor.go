package recall

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

var errCursor = errors.New("not a cursor")

// cursor is a position as callers hand it back: a checksum, which tells one that was copied
// badly, the time in seconds and nanoseconds, order, number and id.
func cursor(p *conversations.Position) string {
	at := fmt.Appendf(nil, "%d %d %d %d %s", p.Time.Unix(), p.Time.Nanosecond(), p.Order, p.Event, p.ID)
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(at))
	return base64.RawURLEncoding.EncodeToString(append(sum, at...))
}

// parseCursor reads what cursor wrote.
func parseCursor(s string) (conversations.Position, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	parts := strings.SplitN(string(b[min(4, len(b)):]), " ", 5)
	if err != nil || len(parts) < 5 {
		return conversations.Position{}, errCursor
	}
	var seconds, nanos int64
	p := conversations.Position{ID: transcript.ID(parts[4])}
	_, err = fmt.Sscan(strings.Join(parts[:4], " "), &seconds, &nanos, &p.Order, &p.Event)
	p.Time = time.Unix(seconds, nanos).UTC()
	if err != nil || cursor(&p) != s {
		return conversations.Position{}, errCursor
	}
	return p, nil
}
