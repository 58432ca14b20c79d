package regions

import (
	"time"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
)

// Regions moves pools' blocks between regions, and reports the regions' state.
type Regions struct {
	*directory
	*borrower
	*keeper
	*leaver
	*reconciler
}

// New creates the use cases. runway is the time for which a loan to a region should last. 0 means 10 minutes.
func New(core *usecase.Core, runway time.Duration) *Regions {
	if runway <= 0 {
		runway = 10 * time.Minute
	}
	move := &mover{core, runway}
	return &Regions{
		directory: &directory{core}, borrower: &borrower{mover: move}, keeper: &keeper{move},
		leaver: &leaver{move}, reconciler: &reconciler{core},
	}
}
