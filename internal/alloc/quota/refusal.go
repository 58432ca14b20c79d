package quota

import (
	"math/big"

	"github.com/carve-ipam/carve/internal/ipam"
)

// quotaExceeded says which limit does not allow for what is asked, and what would.
func quotaExceeded(quota ipam.Ref, m measure, limit, used, asked *big.Int) *ipam.Error {
	left, remedy := new(big.Int).Sub(limit, used), "Give something back first, or have the limit raised."
	if left.Sign() > 0 {
		remedy = "Ask for " + m.Words(left) + " at most, give something back first, or have the limit raised."
	}
	e := ipam.Errorf(ipam.CodeQuotaExceeded, "Quota %s allows %s: %s in use, %s asked for. %s", quota, m.Words(limit), used, asked, remedy)
	e.Figures.Quota, e.Figures.Measure = quota.String(), string(m)
	e.Figures.Limit, e.Figures.Used, e.Figures.Requested = limit.String(), used.String(), asked.String()
	return e
}

// QuotaLack is the private cause of a quota_exceeded: what was too much, and where. Whoever has other pools to try knows by it
// which of them are not worth trying.
type QuotaLack struct {
	scope   ipam.QuotaScope
	measure measure
	usage   ipam.Usage
}

// Error implements error.
func (*QuotaLack) Error() string { return "the quota has too little left" }

// stops reports whether holding a usage at a place would meet the same refusal.
func (q *QuotaLack) stops(at ipam.HoldPlace, u ipam.Usage) bool {
	return q.scope.Covers(at) && q.measure.Of(u).Cmp(q.measure.Of(q.usage)) >= 0
}

// QuotaLacks is what was refused while pools were tried in turn.
type QuotaLacks []*QuotaLack

// Stop reports whether one of them would be met again.
func (q QuotaLacks) Stop(at ipam.HoldPlace, u ipam.Usage) bool {
	for _, lack := range q {
		if lack.stops(at, u) {
			return true
		}
	}
	return false
}
