//go:build !unix

package kbconfig

// openNonblock is nothing where files cannot be FIFOs.
const openNonblock = 0
