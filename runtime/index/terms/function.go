package terms

// IsFunctionWord reports whether a term is one of the words that hold a sentence together and
// say nothing of what it is about, in English or in the language of the reader. Words such as
// "up", "more" and "after" are not among them: a title of four words loses much with one of those.
func (r *Reader) IsFunctionWord(term string) bool { return isEnglishFunction(term) || r.function[term] }

func isEnglishFunction(term string) bool {
	switch term {
	case "a", "an", "the", "and", "but", "or", "if", "than", "that", "this", "these", "those", "there", "then", "here", "so", "as",
		"am", "is", "are", "was", "were", "be", "been", "being", "do", "does", "doe", "did", "doing", "don",
		"have", "has", "had", "having", "can", "could", "should", "would", "will",
		"i", "me", "my", "myself", "we", "us", "our", "ours", "you", "your", "yours", "he", "him", "his", "she", "her", "hers",
		"it", "its", "they", "them", "their", "theirs",
		"who", "whom", "whose", "what", "when", "where", "which", "while", "why", "whi", "how",
		"at", "by", "for", "in", "into", "of", "on", "to", "with",
		"s", "t", "d", "ll", "m", "re", "ve":
		return true
	}
	return false
}
