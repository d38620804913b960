// Package formats checks strings against the formats of JSON Schema.
//
// It never changes a string, and looks nothing up.
package formats

import (
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Is reports whether s has the format with a name; false for a name that this package does not know.
func Is(format, s string) bool {
	switch format {
	case "date-time":
		return DateTime(s)
	case "date":
		return Date(s)
	case "uuid":
		return UUID(s)
	case "uri":
		return URI(s)
	}
	return false
}

// DateTime reports whether s is a date-time of RFC 3339, section 5.6: with seconds,
// which may be a leap second, and with a zone.
func DateTime(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || s[10] != 'T' && s[10] != 't' {
		return false
	}
	if !Date(s[:10]) || s[13] != ':' || s[16] != ':' {
		return false
	}
	hour, ok1 := twoDigits(s[11:13], 23)
	minute, ok2 := twoDigits(s[14:16], 59)
	second, ok3 := twoDigits(s[17:19], 60)
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	zone := s[19:]
	if zone[0] == '.' {
		fraction := strings.TrimLeft(zone[1:], "0123456789")
		if len(fraction) == len(zone)-1 {
			return false
		}
		zone = fraction
	}
	offset := 0
	if zone != "Z" && zone != "z" {
		if len(zone) != len("+00:00") || zone[3] != ':' || zone[0] != '+' && zone[0] != '-' {
			return false
		}
		hours, ok1 := twoDigits(zone[1:3], 23)
		minutes, ok2 := twoDigits(zone[4:6], 59)
		if !ok1 || !ok2 {
			return false
		}
		offset = hours*60 + minutes
		if zone[0] == '+' {
			offset = -offset
		}
	}
	// Leap seconds are at the end of a day in UTC.
	const day = 24 * 60
	return second < 60 || (hour*60+minute+offset+day)%day == day-1
}

// twoDigits returns the number of two digits, and reports whether they are digits and the number is at most most.
func twoDigits(s string, most int) (int, bool) {
	if s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return 0, false
	}
	n := int(s[0]-'0')*10 + int(s[1]-'0')
	return n, n <= most
}

// Date reports whether s is a full-date of RFC 3339, section 5.6, that exists.
func Date(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// UUID reports whether s is a UUID of RFC 9562, section 4: hexadecimal digits in five
// groups, in either case.
func UUID(s string) bool {
	if len(s) != len("123e4567-e89b-12d3-a456-426614174000") {
		return false
	}
	for i := range len(s) {
		switch b := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if b != '-' {
				return false
			}
		case '0' <= b && b <= '9', 'a' <= b && b <= 'f', 'A' <= b && b <= 'F':
		default:
			return false
		}
	}
	return true
}

// URI reports whether s is an absolute URI for net/url, that is, one with a scheme. An IPv6 address must be in
// brackets.
func URI(s string) bool {
	u, err := url.Parse(s)
	if err != nil || !u.IsAbs() {
		return false
	}
	host := u.Hostname()
	if !strings.Contains(host, ":") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Is6() && address.Zone() == "" && strings.Contains(u.Host, "[")
}
