package ipam

import (
	"math/big"
	"time"
)

// AlertRule says when pools, or quotas, of a project have alerts.
type AlertRule struct {
	Metadata
	ProjectID ID            `json:"projectId"`
	Spec      AlertRuleSpec `json:"spec"`

	DueAt    time.Time `json:"dueAt,omitzero"`    // when a server is to look next
	After    string    `json:"after,omitempty"`   // the name behind which it goes on; "": at the beginning
	LookedAt time.Time `json:"lookedAt,omitzero"` // when it had looked at everything last; zero: never
	Epoch    ID        `json:"epoch"`             // another one after every change of the row
	Alerts   int64     `json:"alerts,omitzero"`   // as they were counted
}

// AlertRuleSpec is what the caller writes of an alert rule.
type AlertRuleSpec struct {
	About AlertAbout `json:"about"`

	// One of them is there: how many percent are used, or within what time a pool will be full.
	Percent int            `json:"percent,omitzero"`
	Runway  *time.Duration `json:"runway,omitempty"`

	Name          string    `json:"resourceName,omitempty"`
	ClassName     string    `json:"className,omitempty"`
	LabelSelector string    `json:"labelSelector,omitempty"`
	Labels        *Selector `json:"labels,omitempty"` // what LabelSelector says
}

// AlertAbout is what an alert rule is about.
type AlertAbout string

// What rules are about.
const (
	AboutPools  AlertAbout = "Pools"
	AboutQuotas AlertAbout = "Quotas"
)

// alertRelief is by how many points less than its percentage ends an alert: one that is at it would begin and end all the time.
const alertRelief = 2

// alertDelay is by which part longer than its runway what is free has to last for an alert to end.
const alertDelay = 10

// Standing is how it stands with something that rules are about.
type Standing struct {
	Share

	// For how long what is free of a pool lasts, by the lines along which it fills up: nil when there are none. Perhaps is by a line that is less close to
	// what was recorded, and never longer.
	Lasts, Perhaps *time.Duration
}

// Begins reports whether something has an alert from now on.
func (s AlertRuleSpec) Begins(now Standing) bool {
	if s.Runway != nil {
		return now.Lasts != nil && *now.Lasts <= *s.Runway
	}
	return now.cmp(s.Percent) >= 0
}

// Ends reports whether it has an alert no more. What is full has no line any more, but needs help all the more.
func (s AlertRuleSpec) Ends(now Standing) bool {
	if s.Runway != nil {
		return now.cmp(100) < 0 && (now.Perhaps == nil || *now.Perhaps > *s.Runway+*s.Runway/alertDelay)
	}
	return now.cmp(max(s.Percent-alertRelief, 0)) <= 0
}

// Matches reports whether a rule about pools is about a pool. Nothing helps a pool that is being drained, which is to become empty.
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

// Share is how much is used of something. The zero value is nothing of nothing.
type Share struct{ Used, Of *big.Int }

// PoolShare is how much of a pool is not free, by its stock.
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

// Hundredths is a share in hundredths of a percent, rounded half up: 10,000 at most, and 0 of nothing.
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

// Alert is that so much is used of a pool, or of a quota, as a rule says.
type Alert struct {
	Region    string // that of the rule
	ProjectID ID
	RuleID    ID
	Rule      string // its name
	About     AlertAbout
	SubjectID ID
	Subject   string // the name of the pool or the quota
	Since     time.Time
	Began     int64     // how much was used then, in hundredths of a percent
	RunsOutAt time.Time // when the pool is full, as was said then; zero: the rule has a percentage

	// What is not of its row.
	Spec   AlertRuleSpec     // of the rule
	Labels map[string]string // of the rule
	Now    *Share            // nil: there is no such pool or quota any more
}

// Name of the alert in its project.
func (a Alert) Name() string { return a.Rule + "/" + a.Subject }

// Meta implements Resource: an alert has the labels of its rule.
func (a Alert) Meta() Metadata { return Metadata{Name: a.Name(), Labels: a.Labels} }
