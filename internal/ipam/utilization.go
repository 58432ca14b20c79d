package ipam

import (
	"math/big"
	"time"
)

// UsedAt is how many addresses of a pool were not free at a moment.
type UsedAt struct {
	At   time.Time
	Used *big.Int
}
