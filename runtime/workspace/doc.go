// Package workspace reads the conversations of a JP workspace from disk: it
// finds the workspace, pairs the store inside the project with the store in the
// user's data directory, and says which copy of a conversation counts.
//
// It is a reader. It never creates, changes, renames, locks or removes anything,
// also not to repair what it finds; it follows no link out of a store, and opens
// only regular files. Nothing recorded in a store chooses a path outside it.
package workspace
