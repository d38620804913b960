package sessionconfig

// API returns the interface of the model: responses, chat, messages, command or scripted.
func (m Model) API() string { return m.table.API }

// OfProject reports whether a project has the model.
func (m Model) OfProject() bool { return m.source.Root != "" }
