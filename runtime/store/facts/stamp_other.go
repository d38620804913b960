//go:build !unix || solaris || aix

package facts

import (
	"errors"
	"io/fs"
	"os"
)

// At has no stamp: the system does not say when a file was changed without opening it.
func At(*os.File, string) (Stamp, error) { return Stamp{}, errors.ErrUnsupported }

// Of has no stamp either.
func Of(fs.FileInfo) Stamp { return Stamp{} }
