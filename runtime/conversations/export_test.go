package conversations

// IndexReports returns the state of the indexes of the library's stores. It reads nothing else.
func (l *Library) IndexReports() (reports []IndexReport) {
	if l.indexes.dir == "" {
		return nil
	}
	for _, s := range l.stores {
		u := &update{IndexReport: IndexReport{Store: s.Name(), Place: s.Place()}, source: &source{index: l.indexes.ofStore(l.settings, s)}}
		u.openView()
		reports = append(reports, u.IndexReport)
	}
	return reports
}
