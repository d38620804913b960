package processtest

// diffLines compares two lists of lines along their longest common subsequence.
// Lines only in want are marked with -, lines only in got with +; changes counts
// both.
func diffLines(want, got []string) (diff []string, changes int) {
	// common[i][j] is the length of that subsequence of want[i:] and got[j:].
	common := make([][]int, len(want)+1)
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(want) || j < len(got) {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			diff = append(diff, "  "+want[i])
			i++
			j++
		case j == len(got) || i < len(want) && common[i+1][j] >= common[i][j+1]:
			diff = append(diff, "- "+want[i])
			i++
			changes++
		default:
			diff = append(diff, "+ "+got[j])
			j++
			changes++
		}
	}
	return diff, changes
}
