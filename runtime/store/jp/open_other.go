//go:build !unix

package jp

// openNonblock is nothing where files cannot be FIFOs.
const openNonblock = 0
