package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/model/modeltest"
)

// A provider gets the history of a conversation again, byte for byte, from the process that goes on after a crash and
// from later ones. A call that waited for another conversation gets the answer of that one. The key of the provider is
// in no file.
func TestHistoriesOnTheWire(t *testing.T) {
	t.Parallel()
	for _, api := range []string{"responses", "chat", "messages"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			historyOnTheWire(t, api)
		})
	}
}

func historyOnTheWire(t *testing.T, api string) {
	h := newHousehold(t)
	hung := make(chan struct{}, 1)
	hotelQuestions := 0
	server := &modeltest.Server{}
	server.Answer = func(e modeltest.Exchange) modeltest.Answer {
		thinking := "Hm."
		if api == "chat" { // this API gets thinking back only until the user asks again
			thinking = ""
		}
		switch e.Last {
		case "Plan":
			return modeltest.Answer{Thinking: thinking, Pieces: []string{"I ask."}, Calls: []modeltest.Call{{ID: "a", Name: "conv_create", Args: `{"user_instruction":"Hotels"}`}}}
		case "Hotels":
			if hotelQuestions++; hotelQuestions == 1 {
				return modeltest.Answer{Hang: func() { hung <- struct{}{} }}
			}
			return modeltest.Answer{Pieces: []string{"The Adler."}}
		case "Sure?":
			return modeltest.Answer{Pieces: []string{"Yes."}}
		}
		return modeltest.Answer{Pieces: []string{"They are: " + e.Last}}
	}
	url := server.Start()
	defer server.Close()
	printing := `["printf", "` + modeltest.Key + `"]`
	if runtime.GOOS == "windows" {
		printing = `["cmd", "/c", "echo ` + modeltest.Key + `"]`
	}
	config := fmt.Sprintf("[model.m]\napi = %q\nbase_url = %q\nmodel = \"some-model\"\nkey_command = %s\n", api, url, printing)
	file := filepath.Join(h.home, "config", "convtools", "convtools.toml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(want string, args ...string) string {
		t.Helper()
		r := h.start(t, args...)
		if code := r.wait(); code != 0 || !strings.Contains(r.printed.String(), want) {
			t.Fatalf("%v: exit %d: %s%s", args, code, r.printed.String(), r.stderr.String())
		}
		return r.printed.String()
	}
	query := h.start(t, "query", "--json", "Plan")
	query.until(`"text":"Hotels"`)
	<-hung
	if err := query.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	query.wait()
	id := query.session()
	run("The Adler.", "session", "resume", id)
	run("Yes.", "query", "--id", id, "Sure?")
	// The requests of the root: each has all that the one before had.
	var before []json.RawMessage
	requests := 0
	for _, e := range server.Exchanges() {
		var body struct{ Input, Messages []json.RawMessage }
		if err := json.Unmarshal(e.Body, &body); err != nil {
			t.Fatal(err)
		}
		sent := append(body.Input, body.Messages...)
		if !bytes.Contains(e.Body, []byte(`"Plan"`)) {
			continue // the other conversation
		}
		requests++
		for i, item := range before {
			if !bytes.Equal(item, sent[i]) {
				t.Errorf("item %d of request %d is %s, and was %s", i, requests, sent[i], item)
			}
		}
		if requests > 1 && !bytes.Contains(e.Body, []byte("The Adler.")) {
			t.Errorf("request %d does not have the real answer: %s", requests, e.Body)
		}
		before = sent
	}
	if requests != 3 {
		t.Errorf("%d requests of the root", requests)
	}
	err := filepath.WalkDir(h.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == file {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(modeltest.Key)) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
