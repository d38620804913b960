package conversations

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/transcript"
)

const (
	// runsCount is the share of a command's score that is added for each time that the number of its runs doubles.
	runsCount = 0.3
	// failedCounts is the factor of the score of a command that never succeeded.
	failedCounts = 0.5
	// resultReach is the number of messages after a call among which its result is: calls can be made at once.
	resultReach = 32
)

// command is a shell command that was run, once or more often.
type command struct {
	text           string  // of its last run
	hit            Hit     // the last run
	score          float64 // the best score of a run
	runs, failures int
}

// commands adds the shell commands that rank highest for the question to the results, best first. Each has the numbers
// of its runs and failures. Only runs with a word of the question count.
func (r *ranking) commands(ctx context.Context) error {
	found := map[string]*command{}
	for i := range r.asks.Terms {
		r.asks.Terms[i].Common = false // commands are few: a word alone gives a score, even if most messages have the word
	}
	for _, s := range r.result.query.sources {
		q := r.asks
		q.Filter, q.Most = r.query.indexFilter(s), len(s.view.Conversations)
		ranked, err := s.view.Rank(ctx, q)
		if err != nil {
			return err
		}
		for i := range ranked {
			if err := cmp.Or(ctx.Err(), r.collectRuns(s, &ranked[i], found)); err != nil {
				return err
			}
		}
	}
	r.result.Total = len(found)
	for _, c := range r.bestCommands(found) {
		p := &Passage{Score: c.score, Runs: c.runs, Failures: c.failures}
		p.Excerpt, p.Wide = beginning(c.text, r.query.MaxText), beginning(c.text, r.query.MaxWide)
		c.hit.Passage = p
		r.result.Hits = append(r.result.Hits, c.hit)
		conversation := c.hit.Conversation
		conversation.Score = max(conversation.Score, c.score)
		if !slices.Contains(r.result.Conversations, conversation) {
			r.result.Conversations = append(r.result.Conversations, conversation)
		}
	}
	return nil
}

// collectRuns adds the messages with a score in a conversation to found. Each message is a run of a command. found has
// the commands by their texts as essence returns them, so that runs with and without "| head" are of one command.
func (r *ranking) collectRuns(s *source, in *index.Ranked, found map[string]*command) error {
	for i, m := range in.Messages {
		if m.Score == 0 {
			continue
		}
		extra, err := s.view.Extra(m)
		if err != nil {
			return err
		}
		x := parseExtra(extra, kindOf(m.Kind))
		key := essence(x.command)
		c := found[key]
		if c == nil {
			c = &command{}
			found[key] = c
		}
		c.runs++
		after := in.Messages[i+1 : min(i+resultReach, len(in.Messages))] // the result of the call is probably there
		hasFailed, err := s.hasFailed(&m, after)
		if err != nil {
			return err
		}
		if hasFailed {
			c.failures++
		}
		c.score = max(c.score, float64(m.Score))
		if isFirst := c.text == ""; isFirst || m.Time.After(c.hit.Time) {
			c.text, c.hit = string(s.shown([]byte(x.command), extra)), s.newHit(in.Conversation, m, extra)
			c.hit.Failed = hasFailed
		}
	}
	return nil
}

// hasFailed reports whether the result of a call is marked as an error. It looks for the result among the messages
// after the call, and returns false if the result is not there.
func (s *source) hasFailed(call *index.Scored, after []index.Scored) (bool, error) {
	for _, m := range after {
		if kindOf(m.Kind) != transcript.KindToolResult {
			continue
		}
		extra, err := s.view.Extra(m)
		if err != nil {
			return false, err
		}
		if x := parseExtra(extra, transcript.KindToolResult); x.call == int(call.Number) {
			return isFailed(m.Kind), nil
		}
	}
	return false, nil
}

// bestCommands returns the found commands with the highest scores, up to the limit, the best first. Before it compares
// the scores, it raises that of a command with several runs, and lowers that of a command that never succeeded.
func (r *ranking) bestCommands(found map[string]*command) (best []*command) {
	for _, c := range found {
		c.score *= 1 + runsCount*math.Log2(float64(c.runs))
		if c.failures == c.runs {
			c.score *= failedCounts
		}
		best = append(best, c)
	}
	slices.SortFunc(best, func(a, b *command) int {
		lastA, lastB := a.hit.Position(), b.hit.Position()
		return cmp.Or(cmp.Compare(b.score, a.score), lastA.inIndex().Compare(lastB.inIndex()))
	})
	return best[:min(len(best), r.query.Limit)]
}

// essence returns a command without a `cd` before it, and without the pipes to head and tail and the "2>…" after it.
func essence(command string) string {
	short := strings.TrimSpace(command)
	if dir, rest, ok := strings.Cut(short, "&&"); ok && strings.HasPrefix(dir, "cd ") && len(strings.Fields(dir)) == 2 {
		short = strings.TrimSpace(rest)
	}
	for before := ""; before != short; { // until nothing more can be removed
		before = short
		if pipe := strings.LastIndexByte(short, '|'); pipe > 0 {
			filter := strings.TrimSpace(short[pipe+1:])
			if strings.HasPrefix(filter, "tail") || strings.HasPrefix(filter, "head") {
				short = strings.TrimSpace(short[:pipe])
			}
		}
		for _, redirection := range []string{"2>&1", "2>/dev/null"} {
			short = strings.TrimSpace(strings.TrimSuffix(short, redirection))
		}
	}
	return short
}

// beginning returns the beginning of a command of at most most bytes, in whole characters.
func beginning(command string, most int) excerpt.Excerpt {
	shown := strings.ToValidUTF8(command[:min(len(command), most)], "")
	return excerpt.Excerpt{Text: shown, After: len(shown) < len(command)}
}
