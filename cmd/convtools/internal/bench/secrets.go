package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/base/secret"
	"github.com/convtools/convtools/runtime/process"
)

// maxSource is the number of bytes of source code that are looked at.
const maxSource = 100_000_000

// secrets measures what is taken for a secret in the source code of Go, which has none but keys in PEM that its tests
// are for, and how fast texts are looked through.
func (b *bench) secrets(ctx context.Context) error {
	root, err := repository.Output(ctx, process.Command{Path: "go", Args: []string{"env", "GOROOT"}, Env: os.Environ(), Limits: process.Limits{Timeout: time.Minute}})
	if err != nil {
		return err
	}
	masked := regexp.MustCompile(`\[secret: ([^\]]*)\]`)
	found, alarms, size, took := map[string]int{}, 0, int64(0), time.Duration(0)
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || size >= maxSource {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		size += int64(len(source))
		start := time.Now()
		shown := secret.Mask(source)
		took += time.Since(start)
		if bytes.Equal(source, shown) {
			return nil
		}
		for _, kind := range masked.FindAllSubmatch(shown, -1) {
			if found[string(kind[1])]++; string(kind[1]) != "private key" {
				alarms++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	row := table.Row{
		Name: "false alarms in source code", Result: fmt.Sprintf("%.2f in 10 MB", float64(alarms)/float64(size)*1e7),
		Detail: fmt.Sprintf("%s; %v", megabytes(size), found),
	}
	row.Bound, row.Missed = "at most 1", float64(alarms)/float64(size)*1e7 > 1
	b.table.Add(row)
	b.table.Add(table.Row{Name: "looking for secrets", Result: fmt.Sprintf("%.0f MB/s", float64(size)/1e6/took.Seconds())})
	return nil
}
