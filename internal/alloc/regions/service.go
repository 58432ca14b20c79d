package regions

import (
	"time"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
)

// Regions moves blocks of pools between the regions that serve them, and says what the regions have.
type Regions struct {
	*directory
	*borrower
	*keeper
	*leaver
	*reconciler
}

// New makes the room. What a region is lent of a pool should last for the runway; 0: 10 minutes.
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
