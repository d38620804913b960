// Package index stores messages in side files, or in memory. It finds a literal text of any length without reading the
// store of the messages, and ranks messages by their terms.
//
// An index is a directory of immutable segments and a catalog, which has the conversations and names the segments. A
// segment has messages, newest first. It has their compressed texts, and for each gram of the folded texts a list of
// the messages with it. A search intersects the lists of the grams of a text, and reads the text of each message that
// is left. A text of at most three bytes is a gram itself, so that no message is read. Terms, which are stems of words,
// have two lists each: the messages with the term, and the messages that have it often. Ranking uses only these lists
// and the lengths of messages. All that is read is verified by checksums. If a file is damaged, truncated or of another
// version, the error is a [*DamageError], and the index is made anew.
//
// An index can be deleted at any time. The package must never depend on a store or on kinds of events. Its caller
// chooses the versions of conversations.
package index
