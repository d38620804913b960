//go:build !linux

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
)

func runIsolated(context.Context, []string, io.Writer, io.Writer) (bool, error) {
	return false, fmt.Errorf("%w: %s has none", errNotIsolated, runtime.GOOS)
}

func loopbackUp() error { return onlyLoopback() }
