//go:build !unix

package install

import "os"

// keepOwner does nothing: files get their owner from the directory they are in.
func keepOwner(*os.File, string) error { return nil }
