//go:build !linux

package jp

import "os"

// openBeneath and openDirBeneath return nil: [os.Root] opens files here.
func openBeneath(*os.File, string) *file       { return nil }
func openDirBeneath(*os.File, string) *os.File { return nil }
