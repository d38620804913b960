//go:build !unix

package safefile

// nonblock is nothing where the file system has no FIFOs.
const nonblock = 0
