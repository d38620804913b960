package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// history is the sessions of a program, written to be measured on.
type history struct {
	program  string // as people call it
	env      string // the variable that names its home
	home     string
	project  string // the directory that the sessions were held in
	files    string // the directory that has them
	sessions int
	bytes    int64
	longest  int64 // line, in bytes
	needles  int   // lines with [jptest.Needle]
}

// needleEvery is how many results of tools there are for one with [jptest.Needle].
const needleEvery = 2000

// writeHistory writes sessions of about size bytes together. They are written line by
// line, so that little memory is needed: see peakMemory.
func (h *history) writeHistory(size int64, line func(*writtenSession, part) string, name func(*writtenSession) string) (err error) {
	random := rand.New(rand.NewPCG(14, uint64(size))) //nolint:gosec // nothing secret
	results := 0
	for n := range h.sessions {
		s := &writtenSession{random: random, project: h.project, at: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)}
		s.id = s.uuid()
		path := filepath.Join(h.files, filepath.FromSlash(name(s)))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("writing a history: %w", err)
		}
		f, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("writing a history: %w", err)
		}
		w := bufio.NewWriter(f)
		written := int64(0)
		add := func(p part) {
			text := line(s, p)
			written += int64(len(text))
			h.longest = max(h.longest, int64(len(text)))
			_, _ = w.WriteString(text) // Flush has the error
		}
		add(part{kind: "begin"})
		for each := size / int64(h.sessions); written < each; {
			add(part{kind: "user", text: s.sentence(40)})
			for range 1 + random.IntN(12) {
				add(part{kind: "call", text: fmt.Sprintf("internal/%s/%s.go", s.word(), s.word())})
				results++
				text := s.code(resultSizes[random.IntN(len(resultSizes))])
				if results%needleEvery == 0 {
					text += "// see " + jptest.Needle + " before changing this"
					h.needles++
				}
				add(part{kind: "result", text: text})
			}
			add(part{kind: "assistant", text: s.sentence(120)})
		}
		h.bytes += written
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			return fmt.Errorf("writing a history: %w", err)
		}
	}
	return nil
}

// resultSizes are the bytes of what tools return.
var resultSizes = [...]int{200, 300, 700, 700, 1500, 2500, 4000, 9000, 12_000, 30_000}

// part is a record of a session, before it is written in the form of a program.
type part struct {
	kind string // begin, user, assistant, call or result
	text string
}

// writtenSession is a session of another program that is being written.
type writtenSession struct {
	random  *rand.Rand
	project string
	id      string
	at      time.Time
	last    string // record
	calls   int
}

func (s *writtenSession) uuid() string {
	a, b := s.random.Uint64(), s.random.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}

// stamp is the time of the next record.
func (s *writtenSession) stamp() string {
	s.at = s.at.Add(time.Duration(1+s.random.IntN(5000)) * time.Millisecond)
	return s.at.Format("2006-01-02T15:04:05.000Z")
}

func (s *writtenSession) word() string { return benchWords[s.random.IntN(len(benchWords))] }

func (s *writtenSession) sentence(words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(s.word())
		b.WriteByte(' ')
	}
	return b.String()
}

func (s *writtenSession) code(size int) string {
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, benchLines[s.random.IntN(len(benchLines))], s.word(), s.word(), s.random.IntN(100_000))
	}
	return b.String()
}

var benchWords = strings.Fields(`the of and to in is that for it with as was on be at by this had not are but from or have an they which one
	you were all her she there would their we him been has when who will more no if out so said what up its about into than them can only
	other new some could time these two may then do first any my now such like our over man me even most made after also did many before
	must through back years where much your way well down should because each just those people how too little state good very make world
	still own see men work long get here between both life being under never day same another know while last might us great old year off
	retry budget ledger parser import window buffer queue tariff gauge harbour signal schema commit branch merge deploy cache index token`)

var benchLines = [...]string{
	"\tif err := %s.%s(ctx, %d); err != nil {\n", "\t\treturn fmt.Errorf(\"reading %s of %s: %%w\", err) // %d\n", "\t}\n\tfor i, %s := range %s[:%d] {\n",
	"// %s reports whether %s has %d entries.\n", "func (c *client) %s(%s string) int { return %d }\n", "\tconst %s, %s = \"a b\", %d\n", "\t%s.%s = append(list, %d)\n\n",
}

func quoted(text string) string {
	// As the programs do it: < and > are left as they are.
	q, _ := jsonQuoted(text)
	return q
}

// claudeName is where Claude Code has a session, in the folder of a project.
func claudeName(s *writtenSession) string { return s.id + ".jsonl" }

// claudeLine is a part as Claude Code records it. What tools return stands there twice.
func claudeLine(s *writtenSession, p part) string {
	if p.kind == "begin" {
		return `{"type":"mode","mode":"normal","sessionId":"` + s.id + "\"}\n"
	}
	parent := "null"
	if s.last != "" {
		parent = `"` + s.last + `"`
	}
	s.last = s.uuid()
	var kind, message, more string
	switch text := quoted(p.text); p.kind {
	case "user":
		kind, message = "user", `{"role":"user","content":`+text+`}`
	case "assistant":
		kind, message = "assistant", claudeAnswer(`{"type":"text","text":`+text+`}`)
	case "call":
		s.calls++
		kind, message = "assistant", claudeAnswer(`{"type":"tool_use","id":"toolu_`+strconv.Itoa(s.calls)+`","name":"Read","input":{"file_path":`+text+`}}`)
	case "result":
		kind = "user"
		message = `{"role":"user","content":[{"tool_use_id":"toolu_` + strconv.Itoa(s.calls) + `","type":"tool_result","content":` + text + `}]}`
		more = `"toolUseResult":{"type":"text","file":{"filePath":"/src/file.go","content":` + text + `,"numLines":40}},`
	}
	return `{"parentUuid":` + parent + `,"isSidechain":false,"userType":"external","cwd":` + quoted(s.project) + `,"sessionId":"` + s.id +
		`","version":"2.1.197","gitBranch":"main","type":"` + kind + `","message":` + message + `,` + more +
		`"uuid":"` + s.last + `","timestamp":"` + s.stamp() + "\"}\n"
}

func claudeAnswer(block string) string {
	return `{"model":"claude-test","id":"msg_1","type":"message","role":"assistant","content":[` + block +
		`],"stop_reason":null,"usage":{"input_tokens":1200,"output_tokens":80}}`
}

// codexName is where Codex has a session, in its home.
func codexName(s *writtenSession) string {
	return s.at.Format("sessions/2006/01/02/rollout-2006-01-02T15-04-05-") + s.id + ".jsonl"
}

// codexLine is a part as Codex records it. What is said stands there twice.
func codexLine(s *writtenSession, p part) string {
	record := func(kind, payload string) string {
		return `{"timestamp":"` + s.stamp() + `","type":"` + kind + `","payload":` + payload + "}\n"
	}
	text := quoted(p.text)
	switch p.kind {
	case "begin":
		return record("session_meta", `{"id":"`+s.id+`","timestamp":"`+s.stamp()+`","cwd":`+quoted(s.project)+
			`,"originator":"codex_cli_rs","cli_version":"0.130.0","source":"cli","model_provider":"test","base_instructions":{"text":`+quoted(s.sentence(2000))+`}}`)
	case "user":
		return record("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+text+`}]}`) +
			record("event_msg", `{"type":"user_message","message":`+text+`,"images":[]}`)
	case "assistant":
		return record("event_msg", `{"type":"agent_message","message":`+text+`}`) +
			record("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`+text+`}]}`)
	case "call":
		s.calls++
		arguments, _ := jsonQuoted(`{"cmd":` + quoted("cat "+p.text) + `}`)
		return record("response_item", `{"type":"function_call","name":"exec_command","arguments":`+arguments+`,"call_id":"call_`+strconv.Itoa(s.calls)+`"}`)
	}
	return record("response_item", `{"type":"function_call_output","call_id":"call_`+strconv.Itoa(s.calls)+`","output":`+text+`}`)
}
