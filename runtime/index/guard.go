package index

import "runtime/debug"

// guard calls f. Where the system cannot read a page of a mapped file, because somebody cut
// it or its disk fails, the error is errCut.
func guard[T any](f func(T) error, arg T) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if _, ok := p.(interface{ Addr() uintptr }); !ok { // it is no page that cannot be read
			panic(p)
		}
		err = errCut
	}()
	return f(arg)
}
