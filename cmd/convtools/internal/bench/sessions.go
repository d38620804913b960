package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// needle is a word that is in one of needleEvery results of tools.
const (
	needle      = "zanderquoll"
	needleEvery = 2000
)

// sessions are sessions of Claude Code that are written to be measured on.
type sessions struct {
	home    string // of Claude Code
	project string // the directory that the sessions were held in
	bytes   int64
	needles int
}

// write writes so many sessions of about size bytes together. It writes line by line, so
// that it needs little memory: see peakMemory.
func (h *sessions) write(size int64, count int) error {
	// Claude Code has a folder for each project, with a name that is made from its path.
	folder := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, h.project)
	dir := filepath.Join(h.home, "projects", folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making a folder of sessions: %w", err)
	}
	random := rand.New(rand.NewPCG(14, uint64(size))) //nolint:gosec // nothing secret
	results := 0
	for n := range count {
		s := &writtenSession{random: random, project: h.project, at: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)}
		s.id = s.uuid()
		f, err := os.Create(filepath.Join(dir, s.id+".jsonl"))
		if err != nil {
			return fmt.Errorf("writing a session: %w", err)
		}
		s.w = bufio.NewWriter(f)
		for s.written < size/int64(count) {
			s.user(s.sentence(40))
			for range 1 + random.IntN(12) {
				results++
				text := s.code(resultSizes[random.IntN(len(resultSizes))])
				if results%needleEvery == 0 {
					text += "// see " + needle + " before changing this"
					h.needles++
				}
				s.call(fmt.Sprintf("internal/%s/%s.go", s.word(), s.word()), text)
			}
			s.assistant(s.sentence(120))
		}
		h.bytes += s.written
		if err := errors.Join(s.w.Flush(), f.Close()); err != nil {
			return fmt.Errorf("writing a session: %w", err)
		}
	}
	return nil
}

// resultSizes are the bytes of results of tools.
var resultSizes = [...]int{200, 300, 700, 700, 1500, 2500, 4000, 9000, 12_000, 30_000}

// writtenSession is a session that is being written.
type writtenSession struct {
	w       *bufio.Writer
	written int64
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
	retry budget ledger parser import window buffer queue tariff gauge harbour signal schema commit branch merge deploy cache index token`)

var benchLines = [...]string{
	"\tif err := %s.%s(ctx, %d); err != nil {\n", "\t\treturn fmt.Errorf(\"reading %s of %s: %%w\", err) // %d\n", "\t}\n\tfor i, %s := range %s[:%d] {\n",
	"// %s reports whether %s has %d entries.\n", "func (c *client) %s(%s string) int { return %d }\n", "\tconst %s, %s = \"a b\", %d\n", "\t%s.%s = append(list, %d)\n\n",
}

func (s *writtenSession) user(text string) {
	s.record("user", `{"role":"user","content":`+quoted(text)+`}`, "")
}

func (s *writtenSession) assistant(text string) {
	s.record("assistant", claudeAnswer(`{"type":"text","text":`+quoted(text)+`}`), "")
}

// call writes a call of a tool that reads a file, and its result, which is recorded twice.
func (s *writtenSession) call(path, result string) {
	s.calls++
	id := fmt.Sprintf("toolu_%d", s.calls)
	s.record("assistant", claudeAnswer(`{"type":"tool_use","id":"`+id+`","name":"Read","input":{"file_path":`+quoted(path)+`}}`), "")
	result = quoted(result)
	s.record("user", `{"role":"user","content":[{"tool_use_id":"`+id+`","type":"tool_result","content":`+result+`}]}`,
		`"toolUseResult":{"type":"text","file":{"filePath":"/src/file.go","content":`+result+`,"numLines":40}},`)
}

func claudeAnswer(block string) string {
	return `{"model":"claude-test","id":"msg_1","type":"message","role":"assistant","content":[` + block +
		`],"stop_reason":null,"usage":{"input_tokens":1200,"output_tokens":80}}`
}

func (s *writtenSession) record(kind, message, more string) {
	parent := "null"
	if s.last != "" {
		parent = `"` + s.last + `"`
	}
	s.last = s.uuid()
	s.at = s.at.Add(time.Duration(1+s.random.IntN(5000)) * time.Millisecond)
	n, _ := s.w.WriteString(`{"parentUuid":` + parent + `,"isSidechain":false,"userType":"external","cwd":` + quoted(s.project) + `,"sessionId":"` + s.id +
		`","version":"2.1.197","gitBranch":"main","type":"` + kind + `","message":` + message + `,` + more +
		`"uuid":"` + s.last + `","timestamp":"` + s.at.Format("2006-01-02T15:04:05.000Z") + "\"}\n") // Flush returns the error
	s.written += int64(n)
}

// quoted returns a text as a JSON string, with < and > as they are.
func quoted(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
