package main

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// corpus makes messages of about 700 bytes: words by Zipf's law, and 5 % Chinese.
// The messages are the same on every machine.
type corpus struct{ words []string } // the most frequent first

// message is a message of a corpus.
type message struct {
	conversation int
	number       int // in the conversation, from 1
	role         string
	time         time.Time
	text         string
}

const (
	perConversation = 20 // messages
	perClass        = 15 // queries
)

func newCorpus() *corpus { return &corpus{vocabulary(50_000)} }

// character returns the Chinese character that stands for a rank.
func character(rank int) string { return string(rune(0x4E00 + 5*rank)) }

// random returns a source of random numbers, which are the same for the same seeds.
func random(seed1, seed2 int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed1), uint64(seed2))) //nolint:gosec // nothing secret
}

// common are the most frequent words of English.
var common = strings.Fields(`the of and to in is that for it with as was on be at by this had not are but from or have an they which one
	you were all her she there would their we him been has when who will more no if out so said what up its about into than them can only`)

// vocabulary returns n different words: the common ones, and then words made of random
// syllables. Later words have more syllables.
func vocabulary(n int) []string {
	r := random(12, 1)
	list := slices.Clone(common)
	seen := map[string]bool{}
	for _, word := range list {
		seen[word] = true
	}
	for len(list) < n {
		syllables := 1 + len(list)*3/n + r.IntN(3)
		if word := makeWord(r, syllables); !seen[word] {
			seen[word] = true
			list = append(list, word)
		}
	}
	return list
}

var (
	onsets = strings.Fields("b c d f g h l m n p r s t v w br ch cl cr dr fl fr gr pl pr qu sc sh sl sp st str th tr")
	nuclei = strings.Fields("a e i o u a e i o ea ee ai ou oo io ia")
	codas  = []string{"", "", "", "n", "r", "s", "t", "l", "d", "m", "ng", "nt", "st", "ck", "ll", "nd", "ss", "x"}
	ends   = []string{"", "", "", "ing", "ed", "er", "ly", "tion", "ment", "s", "es", "able", "ness"}
)

// makeWord returns a word of random syllables, with a random end.
func makeWord(r *rand.Rand, syllables int) (word string) {
	for range syllables {
		word += onsets[r.IntN(len(onsets))] + nuclei[r.IntN(len(nuclei))] + codas[r.IntN(len(codas))]
	}
	return word + ends[r.IntN(len(ends))]
}

// messages returns n messages of seven years, by conversation. Another seed gives other messages.
func (c *corpus) messages(seed, n int) iter.Seq[message] {
	return func(yield func(message) bool) {
		r := random(seed, n)
		w := writer{r, c.words, zipf(r, len(c.words)), zipf(r, 3000)}
		roles := [...]string{"user", "assistant", "user", "assistant", "tool"}
		step := 7 * 365 * 24 * time.Hour / time.Duration(1+n/perConversation) // from one conversation to the next
		var sent time.Time                                                    // the time of the last message
		for i := range n {
			m := message{conversation: i / perConversation, number: i%perConversation + 1, role: roles[i%len(roles)], text: w.text(i)}
			if m.number == 1 {
				sent = time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(m.conversation) * step)
			}
			sent = sent.Add(time.Duration(1+r.IntN(600_000)) * time.Millisecond)
			m.time = sent
			if !yield(m) {
				return
			}
		}
	}
}

// writer writes texts with words and Chinese characters of random ranks.
type writer struct {
	*rand.Rand
	words           []string
	word, character *rand.Zipf
}

func zipf(r *rand.Rand, n int) *rand.Zipf { return rand.NewZipf(r, 1.05, 2, uint64(n-1)) }

// text returns the text of message i. In each group of 100,000, of 1,000 and of 100 messages, every query has one place.
// The message at this place also has the planted word of the query.
func (w writer) text(i int) string {
	size := int(math.Exp(w.NormFloat64()*0.9)*460) + 20 // about 700 on average
	text := w.sentences(size)
	if w.Float64() < 0.05 {
		text = w.chinese(size)
	}
	for _, groupSize := range []int{100_000, 1000, 100} {
		for query := range perClass {
			place := query*groupSize/perClass + query // the places are spread over the group
			if i%groupSize == place {
				text += " " + planted(groupSize, query)
			}
		}
	}
	return text
}

// planted returns the word of a query. One message in each group of groupSize messages has this word.
func planted(groupSize, query int) string {
	r := random(groupSize, query)
	return "z" + makeWord(r, 2) + "z" + makeWord(r, 1)
}

// sentences returns at least size bytes of words with capitals and punctuation.
func (w writer) sentences(size int) string {
	var b []byte
	begins := true // the next word begins a sentence
	for len(b) < size {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		start := len(b)
		b = append(b, w.words[w.word.Uint64()]...)
		if begins {
			b[start] -= 'a' - 'A' // a capital
		}
		switch share := w.Float64(); {
		case share < 0.07:
			b = append(b, '.')
		case share < 0.13:
			b = append(b, ',')
		case share < 0.14:
			b = append(b, "?\n"...)
		case share < 0.145:
			b = fmt.Appendf(b, " %d", w.IntN(5000))
		}
		begins = b[len(b)-1] == '.' || b[len(b)-1] == '\n'
	}
	return string(b)
}

// chinese returns at least size bytes of Chinese characters and commas.
func (w writer) chinese(size int) string {
	var b []byte
	for len(b) < size {
		b = append(b, character(int(w.character.Uint64()))...)
		if w.IntN(12) == 0 {
			b = append(b, "，"...)
		}
	}
	return string(b)
}

// class is queries of one kind.
type class struct {
	name         string
	queries      []string
	since, until time.Time // zero for all times
}

// classes returns the queries to measure, perClass queries of each kind. planted(n, i) is a word that one message
// in n has, if n is 100,000, 1,000 or 100.
func (c *corpus) classes() []class {
	r := random(14, 1)
	newClass := func(name string, query func(i int) string) class {
		class := class{name: name}
		for i := range perClass {
			class.queries = append(class.queries, query(i))
		}
		return class
	}
	month := newClass("common, one month three years ago", func(i int) string { return common[2+i] })
	month.since = time.Date(2022, 11, 1, 0, 0, 0, 0, time.UTC)
	month.until = time.Date(2022, 11, 30, 23, 59, 59, 0, time.UTC)
	return []class{
		newClass("rare", func(i int) string { return planted(100_000, i) }),
		newClass("1 in 1,000", func(i int) string { return planted(1000, i) }),
		newClass("1 in 100", func(i int) string { return planted(100, i) }),
		newClass("common", func(i int) string { return common[i] }),
		newClass("absent", func(i int) string {
			if odd := []string{"\x01", "é", "ж", "qzxv"}; i < len(odd) {
				return odd[i]
			}
			return planted(1, i) // no message has it
		}),
		newClass("phrase", func(i int) string { // every third one has rarer words and is found nowhere
			word := func(n int) string { return c.words[r.IntN(n)] }
			if i%3 == 2 {
				return word(2000) + " " + word(2000)
			}
			return word(60) + " " + word(60) + " " + word(60)
		}),
		newClass("one letter", func(i int) string { return string([]rune("etaoinqxzjkw_%é")[i]) }),
		newClass("two letters", func(i int) string { return strings.Fields("th qz er xj in zz on vk to jq it wx 00 of ky")[i] }),
		newClass("one Han", func(i int) string { return character(13 * i * i) }), // i is spread over the ranks, from common to rare
		newClass("two Han", func(i int) string { return character(2*i*i) + character(7*i) }),
		month,
	}
}
