package ipam

import (
	"math/big"
	"time"
)

// UsedAt counts a pool's addresses that were not free at a moment.
type UsedAt struct {
	At   time.Time
	Used *big.Int
}
