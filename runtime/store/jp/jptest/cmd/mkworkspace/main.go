// Command mkworkspace writes a large synthetic JP workspace to measure with, to DIR/.jp,
// which must not exist yet.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

func main() {
	shape := jptest.Shape{NeedleEvery: 50}
	flag.Int64Var(&shape.Bytes, "bytes", 200_000_000, "size of all events together")
	flag.IntVar(&shape.Conversations, "conversations", 2000, "number of conversations")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mkworkspace [-bytes N] [-conversations N] DIR")
		os.Exit(2)
	}
	content, err := jptest.Large(flag.Arg(0), shape)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("bytes\t%d\n", content.Bytes)
}
