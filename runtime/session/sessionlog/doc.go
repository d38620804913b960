// Package sessionlog keeps sessions on disk: one append-only log a session, in a directory that the caller chooses.
//
// A log is a text file of lines. The first one names the format and its version:
//
//	{"format":"convtools-session","version":1}
//
// Each other line is a record: the events of one step of package session, in JSON, with the CRC-32C of that JSON in
// hexadecimal. [MarshalEvent] documents the events.
//
//	{"crc32c":"1c291ca3","events":[{"seq":3,…},{"seq":4,…}]}
//
// A record is one write, and one sync before [Log.Append] returns. Records of agent_message_delta alone are the exception:
// they are written but not synced, since no state comes from them. A process that is killed loses nothing that was
// written; where power is lost, the pieces of a message since the last synced record may be lost too. The message itself
// is in the log when the model has ended it, and where it has not, Recovered voids its pieces.
//
// The state of a session is made from its log alone, from the beginning, whenever it is opened: there is no snapshot that
// could differ from it.
//
// What a crash leaves at the end of a log is cut off by [Open]: the first line that is not whole and all after it, as
// long as nothing of it can have been synced. Damage elsewhere is a [*DamagedError].
//
// The package must never change or remove what Append has written, other than what a crash left at the end and, in [GC],
// whole logs; and never decide what happens in a session.
package sessionlog
