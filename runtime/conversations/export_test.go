package conversations

// SetLeast sets how many bytes of text a store has for which there is an index.
func (x *Indexes) SetLeast(bytes int64) { x.least = bytes }

// LibraryIndexes returns the indexes of a library.
func LibraryIndexes(l *Library) *Indexes { return l.indexes }
