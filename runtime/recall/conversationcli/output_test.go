package conversationcli

import (
	"fmt"
	"testing"
	"time"
)

func TestTimestampsHaveWholeGroupsOfDigits(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*3600)
	for _, tc := range []struct {
		at   time.Time
		want string
	}{
		{time.Time{}, `<nil>`},
		{time.Date(2026, 3, 18, 18, 8, 15, 0, zone), `2026-03-18T16:08:15Z`},
		{time.Date(2026, 3, 18, 16, 8, 15, 100_000_000, time.UTC), `2026-03-18T16:08:15.100Z`},
		{time.Date(2026, 3, 18, 16, 8, 15, 181_870_000, time.UTC), `2026-03-18T16:08:15.181870Z`},
		{time.Date(2026, 3, 18, 16, 8, 15, 1, time.UTC), `2026-03-18T16:08:15.000000001Z`},
	} {
		if got := fmt.Sprint(timestamp(tc.at)); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.at, got, tc.want)
		}
	}
}
