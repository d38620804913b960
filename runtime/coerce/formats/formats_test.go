package formats_test

import (
	"testing"

	"github.com/convtools/convtools/runtime/coerce/formats"
)

// That formats agree with those of a JSON Schema library is tested with generated
// validators. Here are the texts on which the library is wrong, and those of the
// documents that define the formats.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		is   func(string) bool
		yes  []string
		no   []string
	}{
		{
			"date-time", formats.DateTime,
			[]string{"1985-04-12T23:20:50.52Z", "1996-12-19T16:39:57-08:00", "1990-12-31T23:59:60Z", "1990-12-31T15:59:60-08:00", "1937-01-01T12:00:27.87+00:20"},
			[]string{"2026-11-22T+9:30:00Z", "2026-11-22T09:-1:00Z", "2026-11-22T09:30:00+-1:00", "1990-12-31T15:59:60Z", "2026-11-22T09:30:00", "2026-11-22T09:30:00.Z", ""},
		},
		{"date", formats.Date, []string{"2024-02-29"}, []string{"2026-02-29", "2026-2-2", "", "2026-11-22 "}},
		{
			"uuid", formats.UUID,
			[]string{"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"},
			[]string{"f81d4fae7dec11d0a76500a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bfg", "f81d4fae-7dec-11d0-a765-00a0c91e6bf", ""},
		},
		{
			"uri", formats.URI,
			[]string{"ftp://ftp.is.co.za/rfc/rfc1808.txt", "ldap://[2001:db8::7]/c=GB?objectClass?one", "mailto:John.Doe@example.com", "urn:oasis:names", "tel:+1-816-555-1212"},
			[]string{"/a", "a", "", "//example.com", "http://::1/", "http://[fe80::1%25eth0]/", "http://a\x00"},
		},
	} {
		for _, s := range tc.yes {
			if !tc.is(s) {
				t.Errorf("%q is no %s", s, tc.name)
			}
		}
		for _, s := range tc.no {
			if tc.is(s) {
				t.Errorf("%q is a %s", s, tc.name)
			}
		}
	}
}
