package quota

import (
	"math/big"

	"github.com/carve-ipam/carve/internal/ipam"
)

// quotaExceeded makes the error for an exceeded limit. The text gives the limit, the usage, the requested amount and the remaining amount.
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

// QuotaLack is the internal cause of a quota_exceeded error. It has the quota's scope, the measure, and the usage that the quota refused. Code that
// tries several pools uses it to skip the pools that this quota would refuse too.
type QuotaLack struct {
	scope   ipam.QuotaScope
	measure measure
	usage   ipam.Usage
}

// Error implements error.
func (*QuotaLack) Error() string { return "the quota has too little left" }

// refuses reports whether the quota would also refuse a usage for a subject.
func (q *QuotaLack) refuses(subject ipam.QuotaSubject, u ipam.Usage) bool {
	return q.scope.Covers(subject) && q.measure.Of(u).Cmp(q.measure.Of(q.usage)) >= 0
}

// QuotaLacks lists the quota refusals from the pools tried so far.
type QuotaLacks []*QuotaLack

// Refuse reports whether any of these quotas would also refuse a usage for a subject.
func (q QuotaLacks) Refuse(subject ipam.QuotaSubject, u ipam.Usage) bool {
	for _, lack := range q {
		if lack.refuses(subject, u) {
			return true
		}
	}
	return false
}
