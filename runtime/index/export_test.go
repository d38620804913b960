package index

// SetLimits makes the parts of an index so small that a test has several.
func (x *Index) SetLimits(segment, messages, block int) { x.limits = limits{segment, messages, block} }

var AppendFolded = appendFolded
