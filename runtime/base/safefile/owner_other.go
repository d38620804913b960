//go:build !unix

package safefile

// OfAnother reports false: what a user keeps is in their profile here, where others may
// not write.
func OfAnother(string) bool { return false }
