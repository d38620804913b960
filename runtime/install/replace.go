package install

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/safefile"
)

// lockLimit is how long another run may take to apply its change, which is a
// matter of milliseconds.
const lockLimit = 10 * time.Second

// lock makes the directory where needed, and has it for this run alone, where the
// file system has locks. made are the directories that were not there.
func (s records) lock(ctx context.Context) (made []string, unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockLimit, errors.New("another install or uninstall has it locked"))
	defer cancel()
	for {
		dirs, err := makeDirs(s.dir, 0o700)
		if err != nil {
			return nil, nil, err
		}
		made = append(made, dirs...)
		unlock, err := safefile.Lock(ctx, s.dir)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			unlock, err = func() {}, nil
		case errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil: // another run has just removed it
			continue
		}
		return innermostFirst(made), unlock, err
	}
}

// A file that takes the place of another is written under a name of its own,
// beside it: first with this ending, and without when it is complete.
const unfinished = ".part"

// temp returns the name under which a file is written before it gets its place.
// Only a run that has the lock uses it, so what is found there was left behind by
// one that was killed.
func (s records) temp(target string) string {
	return filepath.Join(filepath.Dir(target), ".convtools-"+digest([]byte(s.dir + "\x00" + target))[:16])
}

// replace gives a file new contents, or makes it where before is nil. What
// another program writes at the same time is not lost: a file that is not what it
// was before keeps its place. Where the system can exchange two files, what comes
// out in exchange is looked at too, and put back.
func (s records) replace(target string, before, after []byte, mode fs.FileMode) error {
	temp := s.temp(target)
	if err := stage(temp+unfinished, target, after, mode); err != nil {
		return errors.Join(err, remove(temp+unfinished))
	}
	if err := os.Rename(temp+unfinished, temp); err != nil {
		return errors.Join(err, remove(temp+unfinished))
	}
	if before == nil {
		if err := putNew(temp, target); err != nil {
			return errors.Join(meanwhile(err), remove(temp))
		}
		return nil
	}
	if !holds(target, before) {
		return errors.Join(errMeanwhile, remove(temp))
	}
	err := s.exchange(temp, target)
	if errors.Is(err, errors.ErrUnsupported) {
		err = os.Rename(temp, target)
	}
	if err != nil {
		return errors.Join(meanwhile(err), remove(temp))
	}
	if holds(temp, before) {
		return remove(temp)
	}
	// What came out goes back. If that brings out something newer, so does this.
	placed := after
	for range mostExchanges {
		came, _ := contents(temp)
		if s.exchange(temp, target) != nil || holds(temp, placed) {
			break
		}
		placed = came
	}
	if holds(temp, after) {
		return errors.Join(errMeanwhile, remove(temp))
	}
	return s.rescue(temp, target)
}

// mostExchanges bounds the attempts to let what another program writes stand, while
// it writes again and again.
const mostExchanges = 10

// remove removes a file unless it is not what it was before, and puts back what
// another program writes in that moment.
func (s records) remove(target string, before []byte) error {
	if !holds(target, before) {
		return errMeanwhile
	}
	temp := s.temp(target)
	if err := os.Rename(target, temp); err != nil {
		return meanwhile(err)
	}
	if holds(temp, before) {
		return remove(temp)
	}
	if putNew(temp, target) != nil {
		return s.rescue(temp, target)
	}
	return errMeanwhile
}

// meanwhile returns the error for a file that has come or gone.
func meanwhile(err error) error {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return errMeanwhile
	}
	return err
}

// rescue keeps a file that another program has written, and has since replaced.
func (s records) rescue(temp, target string) error {
	kept, err := s.keep(temp, target)
	if err != nil {
		return fmt.Errorf("something else writes it all the time; a version of it is in %s, because it could not be kept: %w", temp, err)
	}
	return fmt.Errorf("something else writes it all the time; nothing was changed, and a version of it is in %s; try again", kept)
}

// keep moves a file to the copies of what target was, and returns its place.
func (s records) keep(temp, target string) (string, error) {
	data, err := contents(temp)
	if err != nil {
		return "", err
	}
	kept := s.copyPath(target, digest(data))
	if err := safefile.Write(kept, data, 0o600); err != nil {
		return "", err
	}
	return kept, remove(temp)
}

// holds reports whether a path is that of a regular file with these bytes.
func holds(path string, data []byte) bool {
	found, err := contents(path)
	return err == nil && bytes.Equal(found, data)
}

// contents returns what a regular file holds. It follows no link.
func contents(path string) ([]byte, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, safefile.ErrNotRegular)
	}
	return safefile.Read(path, maxFile)
}

// remove removes a file that may be gone already.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// putNew gives a file a name that must be free, which a hard link makes sure of.
func putNew(temp, name string) error {
	err := os.Link(temp, name)
	switch {
	case err == nil:
		return remove(temp)
	case errors.Is(err, fs.ErrExist), exists(name):
		return fs.ErrExist
	}
	return os.Rename(temp, name) // a file system without hard links
}

// stage writes a file that is to take the place of another one, like, and has its
// owner, its access control list and its extended attributes. Where there is no
// other file, or the system keeps none of that, it is like any new file. It has
// its mode before anything is in it; see [keepOwner] for when that is a lesser one.
func stage(path, like string, data []byte, mode fs.FileMode) error {
	f, err := create(path, like)
	if err != nil {
		return fmt.Errorf("making a file in this folder, which has to be writable: %w", err)
	}
	mode, err = keepOwner(f, like, mode)
	if err = errors.Join(err, keepAttributes(f, like)); err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Sync())
	}
	return errors.Join(err, f.Close())
}

// createNew makes a file that only this user can read.
func createNew(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// cleanUp removes what runs that were killed have left behind, beside these files
// and those there are records of, and returns what there is to say about it, a
// sentence each. A run that is killed in the moment of an exchange may leave what
// another program has written.
func (s records) cleanUp(targets []string) (notes []string) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		if safefile.Temporary(entry.Name()) {
			_ = remove(filepath.Join(s.dir, entry.Name()))
		}
	}
	written := map[string]string{} // the sums of what was written, by target
	for _, target := range targets {
		written[target] = ""
	}
	for r := range s.all() {
		written[r.Target] = r.After
	}
	for _, target := range slices.Sorted(maps.Keys(written)) {
		temp := s.temp(target)
		_ = remove(temp + unfinished)
		data, err := contents(temp)
		if err != nil {
			continue
		}
		sum := digest(data)
		if sum == written[target] || exists(s.copyPath(target, sum)) {
			_ = remove(temp)
		} else if kept, err := s.keep(temp, target); err == nil {
			notes = append(notes, fmt.Sprintf("What another program wrote into %s while an earlier run was ended is in %s.", target, kept))
		}
	}
	return notes
}
