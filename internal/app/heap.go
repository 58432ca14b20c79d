package app

import (
	"os"
	"sync"
)

// heapFloor is the size of a ballast that raises the garbage collector's view of the live heap. A server's live heap is some 20 MB. With Go's default
// rule (collect when the heap has doubled), the collector would run every few hundred requests and take a third of a claim's CPU time over HTTP. With
// the ballast it runs once for each 64 MiB or more of garbage, and the memory use grows by that amount whatever the heap's size. A higher GOGC
// would multiply the heap by four when ten thousand clients are connected. docs/performance.md has the figures.
const heapFloor = 64 << 20

// floor allocates the ballast once for the process, which keeps it. The process never touches its pages, so the system assigns no memory to them.
var floor = sync.OnceValue(func() []byte { return newFloor(os.Getenv) })

// newFloor returns nil if the operator has set GOGC or GOMEMLIMIT: their values apply as the runtime defines them.
func newFloor(env func(name string) string) []byte {
	if env("GOGC") != "" || env("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, heapFloor)
}
