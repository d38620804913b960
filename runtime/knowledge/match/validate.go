package match

// Validate says what is wrong with a pattern, to stand behind it in a sentence,
// or nil. What has no character of globs in it is a name, and every name is valid.
//
// Who takes patterns from a configuration asks this first: a pattern that cannot
// be read hides nothing where it was written to hide something, and [New] can then
// but disable the whole topic.
func Validate(pattern string) error {
	if !hasMeta(pattern) {
		return nil
	}
	// Without what people put around names it is tried too.
	for _, form := range []string{pattern, bare(pattern)} {
		if _, err := compile(form); err != nil {
			return err
		}
	}
	return nil
}
