// Package index keeps what a store has said in side files, or in memory, such that a literal
// text of any length is found in it without reading the store, and messages are ranked by the
// terms they have.
//
// An index is a directory of immutable segments and a catalog, which has the conversations and names
// the segments. A segment has messages, newest first: their compressed text, and for each gram
// of their folded text the list of messages that have it. A search takes the messages that have
// all grams of a text, and looks at the text of each. What it hands over therefore matches
// whatever the lists say; that nothing is missing is what the checksums of every page that is
// read, and the versions of conversations, are for. Terms, which are stems of words, have lists of
// the same kind: of the messages that have one, and that have it often. A ranking is made of these
// and the lengths of messages alone. A file that is damaged, cut, or of another version is a
// [*DamageError], and the index is as good as none.
//
// Everything in it is derived: it can be deleted at any time. The package knows no store, no
// kind of event and no order of preference: who uses it decides what a conversation's version
// is, and what is searched that the index does not have.
package index
