package regions

import (
	"time"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
)

// Regions moves blocks of pools between the regions that they serve, and reports the regions' state.
type Regions struct {
	*directory
	*borrower
	*keeper
	*leaver
	*reconciler
}

// New makes the use cases. A loan to a region should last for the runway; 0: 10 minutes.
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
