package ipam

import (
	"math/big"
	"time"
)

// AlertRule defines when pools or quotas in a project have alerts.
type AlertRule struct {
	Metadata
	ProjectID ID            `json:"projectId"`
	Spec      AlertRuleSpec `json:"spec"`

	DueAt     time.Time `json:"dueAt,omitzero"`     // when the next check is due
	After     string    `json:"after,omitempty"`    // the name after which the next step continues; "": the next step begins a new check
	CheckedAt time.Time `json:"checkedAt,omitzero"` // when the last complete check ended; zero: never
	Epoch     ID        `json:"epoch"`              // the row's version; changes with every write
	Alerts    int64     `json:"alerts,omitzero"`    // number of alerts when the rule was read
}

// AlertRuleSpec has the alert rule fields that the caller sets.
type AlertRuleSpec struct {
	About AlertAbout `json:"about"`

	// Exactly one is set: the used percentage, or the time within which a pool will be full.
	Percent int            `json:"percent,omitzero"`
	Runway  *time.Duration `json:"runway,omitempty"`

	Name          string    `json:"resourceName,omitempty"`
	ClassName     string    `json:"className,omitempty"`
	LabelSelector string    `json:"labelSelector,omitempty"`
	Labels        *Selector `json:"labels,omitempty"` // LabelSelector, parsed
}

// AlertAbout selects the kind that an alert rule checks.
type AlertAbout string

// The kinds.
const (
	AboutPools  AlertAbout = "Pools"
	AboutQuotas AlertAbout = "Quotas"
)

// alertRelief is the number of percentage points by which the usage must fall below the threshold before an alert ends. Without this margin, a usage
// near the threshold would begin and end an alert again and again.
const alertRelief = 2

// runwayReliefDivisor serves the same purpose for a rule with a runway. The alert ends when the free space lasts longer than the runway plus a tenth
// (1/runwayReliefDivisor).
const runwayReliefDivisor = 10

// Standing is the usage of a pool or quota that a rule checks. For a pool, it may have a forecast.
type Standing struct {
	Share

	// Forecast and LooseForecast estimate the time until the pool has no free space. nil means no forecast. LooseForecast also accepts lines that fit
	// the records less well, so it is never longer than Forecast.
	Forecast, LooseForecast *time.Duration
}

// Begins reports whether an alert begins in this state.
func (s AlertRuleSpec) Begins(now Standing) bool {
	if s.Runway != nil {
		return now.Forecast != nil && *now.Forecast <= *s.Runway
	}
	return now.cmp(s.Percent) >= 0
}

// Ends reports whether an alert ends in this state. A full pool has no forecast, but its alert continues.
func (s AlertRuleSpec) Ends(now Standing) bool {
	if s.Runway != nil {
		return now.cmp(100) < 0 && (now.LooseForecast == nil || *now.LooseForecast > *s.Runway+*s.Runway/runwayReliefDivisor)
	}
	return now.cmp(max(s.Percent-alertRelief, 0)) <= 0
}

// Matches reports whether a rule about pools applies to a pool. It never applies to a draining pool, because nothing can be claimed from that pool.
func (s AlertRuleSpec) Matches(p *Pool) bool {
	if p.Draining() || (s.Name != "" && s.Name != p.Name) || (s.Labels != nil && !s.Labels.Matches(p.Labels)) {
		return false
	}
	if s.ClassName == "" || (p.Scope != nil && p.Scope.Class.Ref.Name == s.ClassName) {
		return true
	}
	for _, class := range p.Classes {
		if class.Ref.Name == s.ClassName {
			return true
		}
	}
	return false
}

// Share is a quantity's used part. The zero value is zero out of zero.
type Share struct{ Used, Of *big.Int }

// PoolShare returns the share of a pool's addresses that are not free. The caller must have read the pool's Stock.
func PoolShare(p Pool) Share {
	width := p.Block.Addr().BitLen()
	size := new(big.Int).Lsh(big.NewInt(1), uint(width-p.Block.Bits()))
	return Share{new(big.Int).Sub(size, p.Stock.Available(width)), size}
}

// cmp compares the share with a percentage.
func (s Share) cmp(percent int) int {
	if s.Of == nil {
		return -1
	}
	return new(big.Int).Mul(s.Used, big.NewInt(100)).Cmp(new(big.Int).Mul(s.Of, big.NewInt(int64(percent))))
}

// Hundredths returns the share in units of 0.01 percent, rounded half up. The result is at most 10,000. It is 0 for the zero value.
func (s Share) Hundredths() int64 {
	if s.Of == nil || s.Of.Sign() == 0 {
		return 0
	}
	n := new(big.Int).Mul(s.Used, big.NewInt(2*100*100))
	n.Quo(n.Add(n, s.Of), new(big.Int).Lsh(s.Of, 1))
	if all := int64(100 * 100); !n.IsInt64() || n.Int64() > all {
		return all
	}
	return n.Int64()
}

// Alert reports that a pool's or quota's usage has reached a rule's threshold.
type Alert struct {
	Region    string // the rule's region
	ProjectID ID
	RuleID    ID
	Rule      string // the rule's name
	About     AlertAbout
	SubjectID ID
	Subject   string // the pool's or the quota's name
	Since     time.Time
	Began     int64     // usage at the beginning, in units of 0.01 percent
	RunsOutAt time.Time // when the pool will be full, by the forecast at the beginning; zero: the rule has a percentage

	// The alert's row does not have these fields.
	Spec   AlertRuleSpec     // from the rule
	Labels map[string]string // from the rule
	Now    *Share            // nil: the pool or quota no longer exists
}

// Name returns the alert's name in its project.
func (a Alert) Name() string { return a.Rule + "/" + a.Subject }

// Meta implements Resource. An alert has its rule's labels.
func (a Alert) Meta() Metadata { return Metadata{Name: a.Name(), Labels: a.Labels} }
