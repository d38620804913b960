package conversations

// KeepAll has everything kept that lists need of files, be it little.
func (x *Indexes) KeepAll() { x.least = 1 }
