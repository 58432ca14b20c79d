package quota

import (
	"math/big"

	"github.com/carve-ipam/carve/internal/ipam"
)

// quotaExceeded makes the error for an exceeded limit: the limit, the usage, the request, and the remaining amount.
func quotaExceeded(quota ipam.Ref, m measure, limit, used, asked *big.Int) *ipam.Error {
	left, remedy := new(big.Int).Sub(limit, used), "Release something first, or ask for a higher limit."
	if left.Sign() > 0 {
		remedy = "Ask for " + m.Words(left) + " at most, release something first, or ask for a higher limit."
	}
	e := ipam.Errorf(ipam.CodeQuotaExceeded, "Quota %s allows %s: %s in use, %s requested. %s", quota, m.Words(limit), used, asked, remedy)
	e.Figures.Quota, e.Figures.Measure = quota.String(), string(m)
	e.Figures.Limit, e.Figures.Used, e.Figures.Requested = limit.String(), used.String(), asked.String()
	return e
}

// QuotaLack is the internal cause in a quota_exceeded: the quota's scope, the measure and the usage. A caller that tries several pools uses it to
// skip pools that would fail too.
type QuotaLack struct {
	scope   ipam.QuotaScope
	measure measure
	usage   ipam.Usage
}

// Error implements error.
func (*QuotaLack) Error() string { return "the quota has too little left" }

// stops reports whether a usage at a place would get the same refusal.
func (q *QuotaLack) stops(at ipam.HoldPlace, u ipam.Usage) bool {
	return q.scope.Covers(at) && q.measure.Of(u).Cmp(q.measure.Of(q.usage)) >= 0
}

// QuotaLacks has the refusals while pools were tried one after another.
type QuotaLacks []*QuotaLack

// Stop reports whether such a refusal would occur again.
func (q QuotaLacks) Stop(at ipam.HoldPlace, u ipam.Usage) bool {
	for _, lack := range q {
		if lack.stops(at, u) {
			return true
		}
	}
	return false
}
