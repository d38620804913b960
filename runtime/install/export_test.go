package install

// Replace makes a change without the look at its files that [Change.Apply] has before.
func Replace(c *Change) error {
	return c.Files[0].replace(0o600)
}
