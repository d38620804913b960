// Package cases says how many random cases a test tries. Tests use nothing else of it,
// and programs nothing at all.
package cases

import (
	"os"
	"strconv"
)

// Times is the environment variable with how many times as many cases as usual are
// tried, a whole number from 1 on. The first cases are always the usual ones.
const Times = "TEST_CASES"

// Of returns how many cases a test tries that usually tries so many.
func Of[N int | uint64](usual N) N {
	if times, err := strconv.Atoi(os.Getenv(Times)); err == nil && times > 1 {
		return usual * N(times)
	}
	return usual
}
