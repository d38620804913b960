package jptest

import (
	"errors"
	"os"
)

func tryLock(*os.File) error { return errors.ErrUnsupported }
