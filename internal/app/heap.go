package app

import (
	"os"
	"sync"
)

// ballastSize is the ballast's size in bytes. A ballast is memory that is allocated and never used. The ballast makes the live heap look larger to
// the garbage collector. Without it, the live heap is some 20 MB. Go collects garbage when the heap has doubled, so the collector would run every few
// hundred requests and take a third of the CPU time of a claim over HTTP.
//
// With the ballast, the collector runs after at least 64 MiB of garbage. The memory use grows by that amount, whatever the heap's size. A higher GOGC
// would be worse, because with ten thousand connected clients it would multiply the heap by four. docs/performance.md has the figures.
const ballastSize = 64 << 20

// heapBallast allocates the ballast. It does so once, and the process keeps the ballast. The process never touches the pages of the ballast, so the
// system assigns no memory to them.
var heapBallast = sync.OnceValue(func() []byte { return newBallast(os.Getenv) })

// newBallast returns the ballast. If the operator has set GOGC or GOMEMLIMIT, it returns nil, so that these settings have their usual effect.
func newBallast(env func(name string) string) []byte {
	if env("GOGC") != "" || env("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, ballastSize)
}
