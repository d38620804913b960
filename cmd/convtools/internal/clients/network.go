package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// onlyLoopback returns an error where an interface could lead anywhere else.
func onlyLoopback() error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("listing network interfaces: %w", err)
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			return fmt.Errorf("the network is not cut off: %s is up", i.Name)
		}
	}
	return nil
}

// freeAddress returns a loopback address that nothing listened on just now.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return "", fmt.Errorf("freeing the port %s: %w", address, err)
	}
	return address, nil
}

// waitFor returns when something listens on address, or with an error when
// ended is closed before.
func waitFor(ctx context.Context, address string, ended <-chan struct{}) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-tick.C:
		case <-ended:
			return errors.New("it ended before it listened")
		case <-ctx.Done():
			return fmt.Errorf("waiting for it to listen: %w", context.Cause(ctx))
		}
	}
}
