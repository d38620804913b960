package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// request is a request of the protocol.
type request struct {
	method string
	params string // JSON
}

// toolCall returns a call of a tool. Arguments are JSON.
func toolCall(tool, arguments string) request {
	return request{"tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)}
}

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"bench","version":"1"}}}` + "\n"
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
)

// server is an MCP server that runs, and a client on its standard streams. The client does
// next to nothing: its own work would be added to the times of all servers alike.
type server struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

// serve starts a server and begins a session with it.
func serve(ctx context.Context, p program) (*server, error) {
	s := &server{cmd: p.command(ctx)}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in, s.out = in, bufio.NewReaderSize(out, 64<<10)
	forgetPeak()
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.path, err)
	}
	if _, err = s.ask([]byte(initialize)); err == nil {
		_, err = io.WriteString(in, initialized)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.path, err), s.kill())
	}
	return s, nil
}

// ask sends a line and returns the response, which is the next message that is no notification.
func (s *server) ask(line []byte) ([]byte, error) {
	if _, err := s.in.Write(line); err != nil {
		return nil, fmt.Errorf("sending a request: %w", err)
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("reading an answer: %w", err)
		}
		if !bytes.Contains(line, []byte(`"method":`)) {
			return line, nil
		}
	}
}

// call sends a request and returns once its result is here, which is not decoded.
func (s *server) call(r request) ([]byte, error) {
	s.id++
	response, err := s.ask(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.id, r.method, r.params))
	if err == nil && !bytes.Contains(response, []byte(`"result":{`)) {
		err = fmt.Errorf("not a result: %.200q", response)
	}
	return response, err
}

// text calls a tool and returns the text of its answer.
func (s *server) text(r request) (string, error) {
	response, err := s.call(r)
	if err != nil {
		return "", err
	}
	var message struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal(response, &message); err != nil || len(message.Result.Content) == 0 {
		return "", fmt.Errorf("the answer %.200q has no text: %w", response, err)
	}
	return message.Result.Content[0].Text, nil
}

// fastest returns the time of the fastest of n calls, after one to warm up.
func (s *server) fastest(n int, r request) (time.Duration, error) {
	if _, err := s.call(r); err != nil {
		return 0, err
	}
	return fastest(n, func() error {
		_, err := s.call(r)
		return err
	})
}

// end ends the server's input and waits until it has ended.
func (s *server) end() error {
	if err := errors.Join(s.in.Close(), s.cmd.Wait()); err != nil {
		return fmt.Errorf("ending %s: %w", s.cmd.Path, err)
	}
	return nil
}

func (s *server) kill() error {
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending %s: %w", s.cmd.Path, err)
	}
	_ = s.cmd.Wait() // it reports that it was killed
	return nil
}
