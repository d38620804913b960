// Package corpus makes years of messages to be measured on: words by Zipf's law, some code,
// some Chinese, and words that are planted as often as is said. The same corpus comes from
// the same size, on any machine.
package corpus

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"time"
)

// Message is a message of a corpus.
type Message struct {
	Conversation int
	Number       int // in the conversation, from 1
	Role         string
	Time         time.Time
	Text         string
}

// Corpus is messages of about 700 bytes. 18 % of them are code, and 5 % Chinese.
type Corpus struct {
	Messages int

	words  []string
	shares []float64 // by word: how often it is it, or one before
	han    []float64
}

// PerConversation is how many messages a conversation has.
const PerConversation = 20

const (
	vocabulary = 50_000
	hans       = 3000
	firstHan   = 0x4E00
	// Queries is how many queries there are of each class.
	Queries = 15
)

// New returns a corpus of messages.
func New(messages int) *Corpus {
	c := &Corpus{Messages: messages, words: words(), shares: zipf(vocabulary), han: zipf(hans)}
	return c
}

// zipf returns the shares of ranks, each added to those before.
func zipf(n int) []float64 {
	shares := make([]float64, n)
	sum := 0.0
	for i := range shares {
		sum += 1 / math.Pow(float64(i+2), 1.05)
		shares[i] = sum
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

func pick(r *rand.Rand, shares []float64) int { return sort.SearchFloat64s(shares, r.Float64()) }

// common are the commonest words of English, in the order of how common they are.
var common = strings.Fields(`the of and to in is that for it with as was on be at by this had not are but from or have an they which one
	you were all her she there would their we him been has when who will more no if out so said what up its about into than them can only`)

// words returns the vocabulary, the commonest first: those of English, and then such as are
// made of its syllables.
func words() []string {
	r := rand.New(rand.NewPCG(12, 1)) //nolint:gosec // nothing secret
	list := append([]string(nil), common...)
	seen := map[string]bool{}
	for _, word := range list {
		seen[word] = true
	}
	for len(list) < vocabulary {
		if word := made(r, 1+len(list)*3/vocabulary+r.IntN(3)); !seen[word] {
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

func made(r *rand.Rand, syllables int) string {
	var b strings.Builder
	for range syllables {
		b.WriteString(onsets[r.IntN(len(onsets))])
		b.WriteString(nuclei[r.IntN(len(nuclei))])
		b.WriteString(codas[r.IntN(len(codas))])
	}
	b.WriteString(ends[r.IntN(len(ends))])
	return b.String()
}

// All returns the messages, by conversation.
func (c *Corpus) All() iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		r := rand.New(rand.NewPCG(12, uint64(c.Messages))) //nolint:gosec // nothing secret
		roles := [...]string{"user", "assistant", "user", "assistant", "tool"}
		var m Message
		step := 7 * 365 * 24 * time.Hour / time.Duration(c.Messages/PerConversation)
		for n := range c.Messages {
			m.Number = n%PerConversation + 1
			if m.Number == 1 {
				m.Conversation = n / PerConversation
				m.Time = time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(m.Conversation) * step)
			}
			m.Time = m.Time.Add(time.Duration(1+r.IntN(600_000)) * time.Millisecond)
			m.Role = roles[n%len(roles)]
			m.Text = c.text(r, n)
			if !yield(&m) {
				return
			}
		}
	}
}

// Title is the title of a conversation.
func (c *Corpus) Title(conversation int) string {
	r := rand.New(rand.NewPCG(13, uint64(conversation))) //nolint:gosec // nothing secret
	return c.sentence(r, 30)
}

// text makes the text of message n.
func (c *Corpus) text(r *rand.Rand, n int) string {
	size := int(math.Exp(r.NormFloat64()*0.9)*460) + 20 // about 700 on average
	var text string
	switch share := r.Float64(); {
	case share < 0.18:
		text = c.code(r, size)
	case share < 0.23:
		text = c.chinese(r, size)
	default:
		text = c.sentence(r, size)
	}
	for _, p := range planted {
		for i := range Queries {
			if n%p.every == i*p.every/Queries+i {
				text += " " + Planted(p.class, i)
			}
		}
	}
	return text
}

// planted are words that stand in one of so many messages.
var planted = []struct {
	class string
	every int
}{{"rare", 100_000}, {"thousandth", 1000}, {"hundredth", 100}}

// Planted returns a word that is planted: rare is in one of 100,000 messages, thousandth and
// hundredth as they say.
func Planted(class string, i int) string {
	r := rand.New(rand.NewPCG(uint64(len(class)), uint64(i))) //nolint:gosec // nothing secret
	return "z" + made(r, 2) + class[:1] + made(r, 1)
}

func (c *Corpus) sentence(r *rand.Rand, size int) string {
	b := make([]byte, 0, size+20)
	capital := true
	for len(b) < size {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		at := len(b)
		b = append(b, c.words[pick(r, c.shares)]...)
		if capital {
			b[at] -= 'a' - 'A'
		}
		switch share := r.Float64(); {
		case share < 0.07:
			b = append(b, '.')
		case share < 0.13:
			b = append(b, ',')
		case share < 0.14:
			b = append(b, "?\n"...)
		case share < 0.145:
			b = fmt.Appendf(b, " %d", r.IntN(5000))
		}
		capital = share(b)
	}
	return string(b)
}

// share reports whether a sentence begins behind a text.
func share(b []byte) bool { return b[len(b)-1] == '.' || b[len(b)-1] == '\n' }

func (c *Corpus) code(r *rand.Rand, size int) string {
	lines := [...]string{
		"\tif err := %s.%s(ctx, %d); err != nil {\n", "\t\treturn fmt.Errorf(\"reading %s of %s: %%w\", err) // %d\n", "\t}\n\tfor i, %s := range %s[:%d] {\n",
		"// %s reports whether %s has %d entries.\n", "func (c *client) %s(%s string) int { return %d }\n", "\tconst %s, %s = \"a b\", 0x%04x\n",
		"def %s(self, %s):\n    return self.cache[%d]\n", "    \"%s\": {\"%s\": %d},\n", "git checkout %s/%s && make test # %d\n",
	}
	b := []byte("```\n")
	for len(b) < size {
		b = fmt.Appendf(b, lines[r.IntN(len(lines))], c.words[pick(r, c.shares)], c.words[pick(r, c.shares)], r.IntN(100_000))
	}
	return string(append(b, "```"...))
}

func (c *Corpus) chinese(r *rand.Rand, size int) string {
	b := make([]byte, 0, size+6)
	for len(b) < size {
		b = append(b, string(rune(firstHan+pick(r, c.han)*5))...)
		if r.IntN(12) == 0 {
			b = append(b, "，"...)
		}
	}
	return string(b)
}

// Class is a class of queries.
type Class struct {
	Name         string
	Queries      []string
	Since, Until time.Time // zero for all times
}

// Classes returns the queries to measure.
func (c *Corpus) Classes() []Class {
	r := rand.New(rand.NewPCG(14, 1)) //nolint:gosec // nothing secret
	each := func(name string, query func(i int) string) Class {
		class := Class{Name: name}
		for i := range Queries {
			class.Queries = append(class.Queries, query(i))
		}
		return class
	}
	here := map[string]bool{}
	for _, word := range c.words {
		here[word] = true
	}
	han := func(rank int) string { return string(rune(firstHan + rank*5)) }
	month := each("common, one month three years ago", func(i int) string { return common[2+i] })
	month.Since = time.Date(2022, 11, 1, 0, 0, 0, 0, time.UTC)
	month.Until = time.Date(2022, 11, 30, 23, 59, 59, 0, time.UTC)
	return []Class{
		each("rare", func(i int) string { return Planted("rare", i) }),
		each("1 in 1,000", func(i int) string { return Planted("thousandth", i) }),
		each("1 in 100", func(i int) string { return Planted("hundredth", i) }),
		each("common", func(i int) string { return common[i] }),
		each("absent", func(i int) string {
			switch i { // no word, and characters and bytes that are nowhere
			case 0:
				return "\x01"
			case 1:
				return "é"
			case 2:
				return "ж"
			case 3:
				return "qzxv"
			}
			for {
				if word := made(r, 2+i%2) + made(r, 1); !here[word] {
					return word
				}
			}
		}),
		each("phrase", func(i int) string { // of common words, of any, and of what is nowhere
			word := func(most int) string { return c.words[r.IntN(most)] }
			if i%3 == 2 {
				return c.words[r.IntN(2000)] + " " + word(2000)
			}
			return word(60) + " " + word(60) + " " + word(60)
		}),
		each("one letter", func(i int) string { return string("etaoinqxzjkw_%é"[i%14]) }),
		each("two letters", func(i int) string {
			return []string{"th", "qz", "er", "xj", "in", "zz", "on", "vk", "to", "jq", "it", "wx", "00", "of", "ky"}[i]
		}),
		each("one Han", func(i int) string { return han(i * i * 13) }),
		each("two Han", func(i int) string { return han(i*i*2) + han(i*7) }),
		month,
	}
}
