// Package formats checks strings against the formats of JSON Schema.
//
// It never changes a string, and looks nothing up.
package formats

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
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

// Patterns are compiled for each string: that takes less time than any tool.
const (
	dateTime = `^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$`
	uuid     = `^[[:xdigit:]]{8}(-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12}$`
)

// DateTime reports whether s is a date-time of RFC 3339, section 5.6: with seconds, perhaps a leap second, and a zone.
func DateTime(s string) bool {
	parts := regexp.MustCompile(dateTime).FindStringSubmatch(s)
	if parts == nil || !Date(parts[1]) {
		return false
	}
	// The pattern has checked that these are two digits, or nothing for the zone Z.
	number := func(part string) int { n, _ := strconv.Atoi(part); return n }
	hour, minute, second := number(parts[2]), number(parts[3]), number(parts[4])
	sign, zoneHour, zoneMinute := parts[5], number(parts[6]), number(parts[7])
	if hour > 23 || minute > 59 || second > 60 || zoneHour > 23 || zoneMinute > 59 {
		return false
	}
	ahead := zoneHour*60 + zoneMinute // minutes by which the zone is ahead of UTC
	if sign == "-" {
		ahead = -ahead
	}
	const day = 24 * 60
	utc := (hour*60 + minute - ahead + day) % day
	isLastMinute := utc == day-1 // leap seconds are at the end of a day in UTC
	return second < 60 || isLastMinute
}

// Date reports whether s is a full-date of RFC 3339, section 5.6, that exists.
func Date(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// UUID reports whether s is a UUID of RFC 9562, section 4: five groups of hexadecimal digits, in either case.
func UUID(s string) bool { return regexp.MustCompile(uuid).MatchString(s) }

// URI reports whether s is a URI with a scheme, for net/url. An IPv6 address must be in brackets.
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
