package install

// Replace makes a change without the look at its files that [Change.Apply] has before.
func Replace(c *Change) error {
	f := &c.Files[0]
	now, err := readFile(f.Path)
	if err != nil {
		return err
	}
	return f.replace(now, 0o600)
}
