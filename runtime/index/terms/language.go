package terms

import (
	"cmp"
	"slices"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// Language is the English name, in lower case, of the language used for stemming. The zero value is English.
type Language string

// English is the default. None leaves words unstemmed.
const (
	English Language = "english"
	None    Language = "none"
)

// Languages returns the names of all languages, sorted, and then None.
func Languages() []string {
	var names []string
	for name := range stemmers() {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return append(names, string(None))
}

// stemmers returns the functions of all languages that replace a word by its stem.
func stemmers() map[Language]func(*snowballstem.Env) bool {
	return map[Language]func(*snowballstem.Env) bool{
		"danish":     danish.Stem,
		"dutch":      dutch.Stem,
		English:      english.Stem,
		"finnish":    finnish.Stem,
		"french":     french.Stem,
		"german":     german.Stem,
		"hungarian":  hungarian.Stem,
		"italian":    italian.Stem,
		"norwegian":  norwegian.Stem,
		"portuguese": portuguese.Stem,
		"romanian":   romanian.Stem,
		"russian":    russian.Stem,
		"spanish":    spanish.Stem,
		"swedish":    swedish.Stem,
		"turkish":    turkish.Stem,
	}
}

// stemmer returns a function that returns the stem of a folded word by the rules of a language. For None or an unknown
// language the function returns the word as it is.
func stemmer(name Language) func(word string) string {
	stem, isKnown := stemmers()[cmp.Or(name, English)]
	if !isKnown {
		return func(word string) string { return word }
	}
	env := snowballstem.NewEnv("")
	return func(word string) string {
		env.SetCurrent(word)
		stem(env)
		return env.Current()
	}
}

// englishFunction are the terms of English function words. "up", "more" and "after" are left out: a title of four
// words loses much without one of them.
const englishFunction = "a an the and but or if than that this these those there then here so as am is are was were be been being do does doe did doing don have has had having can could should would will i me my myself we us our ours you your yours he him his she her hers it its they them their theirs who whom whose what when where which while why whi how at by for in into of on to with s t d ll m re ve"

// functionWords returns the function words of a language other than English, separated by spaces; "" if it has none.
func functionWords(name Language) string {
	switch name {
	case "dutch":
		return "de het een en of maar als dat dit die deze er hier dan toen is zijn was waren ben bent heb hebt heeft hebben had hadden wordt worden werd kan kun kunnen zou zal moet ik jij je u hij zij ze wij we jullie mij mijn jouw haar hem hun ons onze wie wat waar wanneer waarom welke hoe aan bij door in met op te tot uit van voor naar om niet"
	case "french":
		return "le la les un une des du de et ou mais si que qui quoi ce cet cette ces ça cela il elle on je tu nous vous ils elles me te se moi toi lui leur leurs mon ma mes ton ta tes son sa ses notre nos votre vos est sont était étaient être suis es sommes êtes ai as a avons avez ont avait avoir fait faire peut dans en au aux à par pour sur avec comment pourquoi quand où quel quelle quels quelles ne pas l d j n c s m t qu"
	case "german":
		return "der die das den dem des ein eine einen einem einer eines und oder aber wenn dass als wie so da dann hier dort ist sind war waren sein bin bist seid hat haben hatte hatten habe hast wird werden wurde wurden kann können könnte soll sollte würde muss ich du er sie es wir ihr mich dich sich uns euch mir dir ihm ihn ihnen mein meine dein deine seine ihre unser unsere wer wen wem was wo wann warum weshalb welche welcher welches an am auf aus bei beim für im in ins mit nach von vom zu zum zur über nicht"
	case "italian":
		return "il lo la i gli le un uno una di a da in con su per tra fra del dello della dei degli delle al allo alla ai agli alle dal dalla nel nella nei sul sulla e o ma se che chi cui questo questa questi queste quello quella è sono era erano essere ho hai ha abbiamo avete hanno aveva può io tu lui lei noi voi loro mi ti si ci vi mio mia tuo tua suo sua nostro nostra come cosa dove quando perché quale quali non l d c"
	case "portuguese":
		return "o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com e ou mas se que quem este esta isto esse essa isso aquele aquela é são era eram foi ser está estão estava ter tem têm tinha há pode eu tu você ele ela nós vocês eles elas me te lhe meu minha teu tua seu sua nosso nossa como onde quando porque porquê qual quais não ao à"
	case "spanish":
		return "el la los las un una unos unas de del al a en con por para y o pero si que quien este esta esto estos estas ese esa eso aquel aquella es son era eran fue ser está están estaba estar he has ha hemos han había hay puede yo tú él ella nosotros vosotros ellos ellas me te se nos os le les mi mis tu tus su sus nuestro nuestra cómo como dónde donde cuándo cuando qué cuál por porque no lo"
	}
	return ""
}
