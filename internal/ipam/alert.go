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

	DueAt     time.Time `json:"dueAt,omitzero"`     // time of the next check
	After     string    `json:"after,omitempty"`    // the name after which the next step continues; "": at the beginning
	CheckedAt time.Time `json:"checkedAt,omitzero"` // the end of the last complete check; zero: never
	Epoch     ID        `json:"epoch"`              // row version: changes with every write
	Alerts    int64     `json:"alerts,omitzero"`    // number of alerts when it was read
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

// AlertAbout is the kind of subject for an alert rule.
type AlertAbout string

// The kinds of subjects.
const (
	AboutPools  AlertAbout = "Pools"
	AboutQuotas AlertAbout = "Quotas"
)

// alertRelief is how many percentage points below its threshold an alert ends. Without it, an alert at the threshold would begin and end all the
// time.
const alertRelief = 2

// alertDelay defines when an alert on runway ends: when the free space lasts for the runway plus a tenth.
const alertDelay = 10

// Standing is the state of a rule's subject.
type Standing struct {
	Share

	// Forecasts of the time until the pool has no free space; nil without one. Perhaps uses a line that fits the records less well, and is never longer
	// than Lasts.
	Lasts, Perhaps *time.Duration
}

// Begins reports whether a subject in this state gets an alert.
func (s AlertRuleSpec) Begins(now Standing) bool {
	if s.Runway != nil {
		return now.Lasts != nil && *now.Lasts <= *s.Runway
	}
	return now.cmp(s.Percent) >= 0
}

// Ends reports whether the alert of a subject ends. A full pool has no forecast, but its alert continues.
func (s AlertRuleSpec) Ends(now Standing) bool {
	if s.Runway != nil {
		return now.cmp(100) < 0 && (now.Perhaps == nil || *now.Perhaps > *s.Runway+*s.Runway/alertDelay)
	}
	return now.cmp(max(s.Percent-alertRelief, 0)) <= 0
}

// Matches reports whether a rule about pools applies to a pool. It never applies to a draining pool, which should become empty.
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

// Share is the used part of a quantity. The zero value is zero out of zero.
type Share struct{ Used, Of *big.Int }

// PoolShare returns the share of a pool that is not free, from its stock.
func PoolShare(p Pool) Share {
	width := p.Block.Addr().BitLen()
	size := new(big.Int).Lsh(big.NewInt(1), uint(width-p.Block.Bits()))
	return Share{new(big.Int).Sub(size, p.Stock.Available(width)), size}
}

// cmp compares a share with a percentage.
func (s Share) cmp(percent int) int {
	if s.Of == nil {
		return -1
	}
	return new(big.Int).Mul(s.Used, big.NewInt(100)).Cmp(new(big.Int).Mul(s.Of, big.NewInt(int64(percent))))
}

// Hundredths returns the share in hundredths of a percent, rounded half up: at most 10,000, and 0 for the zero value.
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

// Alert reports that the usage of a pool or a quota has reached a rule's threshold.
type Alert struct {
	Region    string // the rule's region
	ProjectID ID
	RuleID    ID
	Rule      string // its name
	About     AlertAbout
	SubjectID ID
	Subject   string // the name of the pool or the quota
	Since     time.Time
	Began     int64     // usage at the beginning, in hundredths of a percent
	RunsOutAt time.Time // when the pool will be full, as forecast at the beginning; zero: the rule has a percentage

	// Fields that are not in the alert's row.
	Spec   AlertRuleSpec     // of the rule
	Labels map[string]string // of the rule
	Now    *Share            // nil: the pool or quota no longer exists
}

// Name returns the alert's name in its project.
func (a Alert) Name() string { return a.Rule + "/" + a.Subject }

// Meta implements Resource: an alert has its rule's labels.
func (a Alert) Meta() Metadata { return Metadata{Name: a.Name(), Labels: a.Labels} }
