package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/process"
)

// linesPerFile is the number of lines of each file of a commit that are asked for.
const linesPerFile = 3

// measureBlame asks convtools blame for lines that commits added, and prints how often the first session in the answer
// is one that made the commit. It takes the lines from the edits in these sessions, because the commits themselves are
// not in the corpus. labels is the file that names the sessions and files of commits.
func (c *corpus) measureBlame(ctx context.Context, convtools, labels string, stdout io.Writer) error {
	var commits []struct{ Sessions, Files []string }
	if err := readJSON(labels, &commits); err != nil {
		return err
	}
	added, err := c.addedLines()
	if err != nil {
		return err
	}
	asked, right := 0, 0
	var times []time.Duration
	for _, commit := range commits {
		for _, file := range commit.Files {
			lines := added.sample(commit.Sessions, file)
			path := filepath.Join(c.Project, filepath.FromSlash(file)) // a file of these lines alone
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600)); err != nil {
				return err
			}
			for i := range lines {
				start := time.Now()
				session, err := c.blame(ctx, convtools, file+":"+strconv.Itoa(i+1))
				if err != nil {
					return err
				}
				times = append(times, time.Since(start))
				asked++
				if slices.Contains(commit.Sessions, session) {
					right++
				}
			}
		}
	}
	fmt.Fprintf(stdout, "blame: %d lines that commits added: right session first %.1f%%, median %.0f ms, slowest %.0f ms\n",
		asked, 100*float64(right)/float64(max(asked, 1)), median(times).Seconds()*1000, slices.Max(append(times, 0)).Seconds()*1000)
	return nil
}

// blame returns the first session that convtools blame names for a line of a file, or "" if it names none.
func (c *corpus) blame(ctx context.Context, convtools, line string) (string, error) {
	result, err := process.Exec{}.Run(ctx, process.Command{
		Path: convtools, Args: []string{"blame", "--json", line}, Dir: c.Project, Env: repository.Environ(c.Dir),
	})
	if err != nil || result.ExitCode == 1 {
		return "", err // exit code 1: no session changed the line
	}
	var changes []struct{ ID string }
	err = json.Unmarshal(result.Stdout, &changes)
	if err == nil && len(changes) == 0 {
		err = errors.New("the answer has no change")
	}
	if err != nil {
		return "", fmt.Errorf("blame %s: %w: %s", line, err, result.Stderr)
	}
	return strings.TrimPrefix(changes[0].ID, "claude-"), nil
}

// addedLines are the lines that edits of sessions added, by session and path.
type addedLines map[string]map[string][]string

// addedLines returns the lines that the edits of all sessions added.
func (c *corpus) addedLines() (addedLines, error) {
	added := addedLines{}
	err := c.walk(func(path string, data []byte) error {
		files := map[string][]string{}
		added[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = files
		for line := range bytes.Lines(data) {
			var record struct {
				Message struct{ Content json.RawMessage }
			}
			var blocks []struct {
				Input struct {
					File string `json:"file_path"`
					Old  string `json:"old_string"`
					New  string `json:"new_string"`
					All  string `json:"content"`
				}
			}
			_ = json.Unmarshal(line, &record) // a damaged line has no edit
			_ = json.Unmarshal(record.Message.Content, &blocks)
			for _, b := range blocks { // an edit has Old and New, and a new file has All
				before := textLines(b.Input.Old)
				for _, line := range textLines(b.Input.New + b.Input.All) {
					if !slices.Contains(before, line) {
						files[b.Input.File] = append(files[b.Input.File], line)
					}
				}
			}
		}
		return nil
	})
	return added, err
}

// textLines returns the lines of a text with at least ten letters, without their
// indentation. A shorter line, such as a brace, tells nothing about its author.
func textLines(text string) (lines []string) {
	const minLetters = 10
	for line := range strings.Lines(text) {
		letters := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) {
				return r
			}
			return -1
		}, line)
		if len(letters) >= minLetters {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// sample returns at most linesPerFile of the lines that sessions added to a file. It chooses them at equal distances in
// the sorted lines, so that every run asks for the same ones.
func (a addedLines) sample(sessions []string, file string) (sample []string) {
	var added []string
	for _, session := range sessions {
		for path, lines := range a[session] {
			if strings.HasSuffix(path, "/"+file) {
				added = append(added, lines...)
			}
		}
	}
	slices.Sort(added)
	added = slices.Compact(added)
	size := min(linesPerFile, len(added))
	for i := range size {
		sample = append(sample, added[i*len(added)/size])
	}
	return sample
}
