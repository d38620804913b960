//go:build windows

package process_test

func platformHelper(string, []string) int { return 98 }
