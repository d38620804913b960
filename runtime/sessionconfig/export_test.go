package sessionconfig

// API returns the interface of the model: responses, chat, messages, command or scripted.
func (m Model) API() string { return m.table.API }
