// Package sqlitefile reads SQLite databases of other programs, which may be writing
// them at the same time.
//
// It reads the files in place and leaves no trace: it takes no lock, makes no copy,
// and creates neither the shared memory nor the write-ahead log that SQLite itself
// makes beside a database that it only reads. What is committed in a write-ahead log,
// or what a transaction that has not ended is going to replace, is laid over the pages of
// the database, and SQLite is handed the result as a file that cannot be written. So the
// lock of a writer keeps nobody waiting. Where the owner changes what is being read,
// reading ends with [ErrChanged], and the caller opens it again.
package sqlitefile
