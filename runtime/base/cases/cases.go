// Package cases returns how many random cases a test tries. Only tests use it.
package cases

import (
	"os"
	"strconv"
)

// Times is the environment variable that multiplies the number of cases, from 1. The first cases are always the same.
const Times = "TEST_CASES"

// Of returns the number of cases for a test that usually tries usual.
func Of[N int | uint64](usual N) N {
	if times, err := strconv.Atoi(os.Getenv(Times)); err == nil && times > 1 {
		return usual * N(times)
	}
	return usual
}
