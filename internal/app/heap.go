package app

import (
	"os"
	"sync"
)

// heapFloor is the size in bytes of a ballast: memory that is allocated and never used. The ballast makes the live heap look larger to the garbage
// collector. Without it, the live heap is some 20 MB. Go collects when the heap has doubled, so the collector would run every few hundred requests.
// It would take a third of the CPU time of a claim over HTTP.
//
// With the ballast, the collector runs after 64 MiB of garbage or more. The memory use grows by that amount, whatever the size of the heap. A higher
// GOGC would be worse, because with ten thousand connected clients it would multiply the heap by four. docs/performance.md has the figures.
const heapFloor = 64 << 20

// floor allocates the ballast. The process does it once and keeps the ballast. It never touches the pages of the ballast, so the system assigns no
// memory to them.
var floor = sync.OnceValue(func() []byte { return newFloor(os.Getenv) })

// newFloor returns the ballast. If the operator has set GOGC or GOMEMLIMIT, it returns nil, so that these settings have their usual effect.
func newFloor(env func(name string) string) []byte {
	if env("GOGC") != "" || env("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, heapFloor)
}
