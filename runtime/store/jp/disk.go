package jp

import (
	"errors"
	"io/fs"
	"os"
)

// disk is the steps in which a [Writer] changes a store. Tests end it between any
// two of them, and in the middle of one.
type disk interface {
	// mkdir makes a directory where there is none.
	mkdir(root *os.Root, name string) error
	// create makes a file, which does not exist, and syncs it.
	create(root *os.Root, name string, data []byte) error
	// rename moves a file or a directory. A file takes the place of another one.
	rename(root *os.Root, from, to string) error
	removeAll(root *os.Root, name string) error
}

type osDisk struct{}

const (
	newDirMode  = 0o755
	newFileMode = 0o644
)

func (osDisk) mkdir(root *os.Root, name string) error {
	err := root.Mkdir(name, newDirMode)
	if errors.Is(err, fs.ErrExist) {
		if info, statErr := root.Lstat(name); statErr == nil && info.IsDir() {
			return nil
		}
	}
	return err
}

func (osDisk) create(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func (osDisk) rename(root *os.Root, from, to string) error { return root.Rename(from, to) }

func (osDisk) removeAll(root *os.Root, name string) error { return root.RemoveAll(name) }
