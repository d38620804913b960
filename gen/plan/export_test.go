package plan

import "os"

// Writer is what stands between a run and the disk.
type Writer = writer

// Disk returns the writer of [Write].
func Disk(root *os.Root) Writer { return disk{root} }

// WriteWith is [Write] with another writer.
func WriteWith(w Writer, r *Result, differences []Difference) error { return write(w, r, differences) }
