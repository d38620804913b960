// Package index stores messages in side files, or in memory. It finds a literal text of any
// length without reading the store they come from, and ranks messages by their terms.
//
// An index is a directory of immutable segments and a catalog, which has the conversations and names
// the segments. A segment has messages, newest first: their compressed text, and for each gram
// of their folded text the list of messages that have it. A search takes the messages that have
// all grams of a text, and reads the text of each, except that a text of at most three bytes is one
// gram and needs no reading. Checksums of every page that is read, and the versions of
// conversations, make sure that nothing is missing. Terms, which are stems of words, have
// two lists of the same kind: the messages that have the term, and those that have it often. Ranking
// uses only these lists and the lengths of messages. A file that is damaged, truncated, or of
// another version is a [*DamageError]; the index is then made anew.
//
// Everything in it is derived: it can be deleted at any time. The package must never depend on
// a store or on kinds of events. Its caller chooses the versions of conversations.
package index
