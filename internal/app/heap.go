package app

import (
	"os"
	"sync"
)

// heapFloor is how much the garbage collector counts as being in use beside what is. The live heap of a server is some 20 MB, and by Go's
// default rule (collect when the heap has doubled) that is a collection every few hundred requests: a third of the processor time of a claim
// over HTTP. With the floor it is one for each 64 MiB and more of garbage, at the price of as much memory and no more, however large the heap is:
// a higher GOGC would cost four times the heap when ten thousand clients are connected. docs/performance.md has the figures.
const heapFloor = 64 << 20

// floor asks for the floor, once for the process, which holds it from then on. Its pages are never touched, so the system gives none of them out.
var floor = sync.OnceValue(func() []byte { return newFloor(os.Getenv) })

// newFloor answers nothing where the operator has said what is to be: GOGC and GOMEMLIMIT are obeyed as the runtime does.
func newFloor(env func(name string) string) []byte {
	if env("GOGC") != "" || env("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, heapFloor)
}
