package ipam

import (
	"math/big"
	"time"
)

// UsedAt is the number of addresses in a pool that were not free at a moment.
type UsedAt struct {
	At   time.Time
	Used *big.Int
}
