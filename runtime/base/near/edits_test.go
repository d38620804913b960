package near

import (
	"math/rand/v2"
	"testing"
)

func TestEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b  string
		limit int
		want  int // -1 where that is more than the limit
	}{
		{"", "", 0, 0},
		{"style", "style", 0, 0},
		{"styel", "style", 1, 1},
		{"nwe", "new", 1, 1},
		{"pfd", "pdf", 1, 1},
		{"éa", "aé", 1, 1},
		{"ca", "abc", 3, 3}, // a swap is not edited again
		{"abcd", "badc", 2, 2},
		{"abcd", "badc", 1, -1},
		{"a", "", 1, 1},
		{"ab", "", 1, -1},
		{"kitten", "sitting", 3, 3},
		{"kitten", "sitting", 2, -1},
	} {
		got, ok := Edits(c.a, c.b, c.limit)
		if ok != (c.want >= 0) || ok && got != c.want {
			t.Errorf("%q and %q within %d: got %d, %t; want %d", c.a, c.b, c.limit, got, ok, c.want)
		}
	}
}

// The bounded distance is that of the whole table.
func TestEditsOracle(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	word := func(most int) string {
		b := make([]rune, r.IntN(most))
		for i := range b {
			b[i] = []rune("abé")[r.IntN(3)]
		}
		return string(b)
	}
	within := 0
	for n := range 50_000 {
		most := 12
		if n%50 == 0 {
			most = 100
		}
		a, b, limit := word(most), word(most), r.IntN(6)
		if r.IntN(3) == 0 {
			b = a + word(4)
		}
		want := wholeTable([]rune(a), []rune(b))
		got, ok := Edits(a, b, limit)
		if ok != (want <= limit) || ok && got != want {
			t.Fatalf("%q and %q within %d: %d, %t; want %d", a, b, limit, got, ok, want)
		}
		if ok {
			within++
		}
	}
	if within < 5000 {
		t.Errorf("only %d pairs are near", within)
	}
}

func wholeTable(a, b []rune) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			if i == 0 || j == 0 {
				table[i][j] = i + j
				continue
			}
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			table[i][j] = min(table[i-1][j]+1, table[i][j-1]+1, table[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				table[i][j] = min(table[i][j], table[i-2][j-2]+1)
			}
		}
	}
	return table[len(a)][len(b)]
}
