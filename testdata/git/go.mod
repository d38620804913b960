module example.com/gittools

go 1.26.0

require github.com/convtools/convtools v0.0.0

replace github.com/convtools/convtools => ../..

tool github.com/convtools/convtools/cmd/convgen
