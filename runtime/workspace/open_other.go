//go:build !unix

package workspace

// openNonblock is nothing where files cannot be FIFOs.
const openNonblock = 0
