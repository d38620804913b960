#!/bin/sh
# Writes what the packages of version $1 have beside the program into bin/release: manual pages, which name the version,
# completions, and the licenses of the modules that the program links on any platform.
set -eu
export LC_ALL=C
rm -rf bin/release
mkdir -p bin/release/completions
go build -trimpath -ldflags "-X main.version=$1" -o bin/release/convtools ./cmd/convtools
bin/release/convtools man bin/release/man
gzip -9n bin/release/man/*
for shell in bash fish zsh; do
  bin/release/convtools completion $shell >bin/release/completions/convtools.$shell
done

for system in darwin linux windows; do
  GOOS=$system go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/convtools
done >bin/release/modules
{ echo "Go $(go env GOVERSION GOROOT | tr '\n' ' ')"; sort -u bin/release/modules; } | while read -r name version dir; do
  printf '==== %s %s ====\n\n' "$name" "$version"
  files=$(ls "$dir" | grep -E '^(LICENSE|COPYING|NOTICE)')
  (cd "$dir" && cat $files)
done >bin/release/THIRD_PARTY_LICENSES
