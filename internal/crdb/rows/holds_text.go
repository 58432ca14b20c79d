package rows

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// holdText contains the members of a row in holds that need no column, because no request searches for them. It is stored as JSON. Every row has such
// a text, so the keys are short, and empty members are omitted. Members that follow from other members are omitted, too. The counts for quotas use p
// and c. The audit also uses h, q, y and the allocationRef in s.
type holdText struct {
	Pool      string             `json:"p,omitempty"` // project/name
	Class     string             `json:"c,omitempty"` // project/name
	Holder    string             `json:"h,omitempty"` // project/name; for a claim, whose name is a column, only the project, if it is not the pool's
	CreatedBy string             `json:"b,omitempty"`
	Created   int64              `json:"t,omitempty"` // microseconds since 1970, if it differs from the column since
	Updated   int64              `json:"u,omitempty"` // microseconds since 1970, if it differs from the column since
	Policy    ipam.ReclaimPolicy `json:"r,omitempty"` // for a claim, if it is not Delete
	Owner     *ipam.OwnerRef     `json:"o,omitempty"`
	Reason    string             `json:"y,omitempty"`

	// The members below exist only for claims.
	Labels      map[string]string `json:"l,omitempty"`
	Annotations map[string]string `json:"a,omitempty"`
	Generation  int64             `json:"g,omitempty"` // if it is not 1
	Reuse       int64             `json:"k,omitempty"` // cool-down in seconds
	Length      *int              `json:"n,omitempty"` // the spec's prefixLength
	Omitted     int               `json:"d,omitempty"` // omitted parts (see omittedPool), because they equal other members
	Spec        *ipam.ClaimSpec   `json:"s,omitempty"` // the other parts
	Allocated   *ipam.Allocated   `json:"w,omitempty"`
	Consumers   int               `json:"q,omitempty"` // number of attached consumers
}

// A part in a claim's spec can equal another member. Such a part is omitted from the stored spec.
const (
	omittedPool   = 1 // poolRef equals Pool
	omittedPolicy = 2 // reclaimPolicy equals Policy
)

// textOf returns a claim's encoded holdText. It caches the previous claim's text, because one request's claims often have the same text.
func (d *documents) textOf(c *ipam.Claim) string {
	if d.before == nil || !sameText(c, d.before) {
		d.text = d.encode(textOfClaim(c))
	}
	d.before = c
	return d.text
}

// sameText reports whether two claims certainly have the same text. It may return false for equal texts.
func sameText(a, b *ipam.Claim) bool {
	return a.Spec.Alike(&b.Spec) && a.Spec.OwnerRef == nil && b.Spec.OwnerRef == nil && a.Pool == b.Pool && a.Class.Ref == b.Class.Ref &&
		a.Project == b.Project && a.CreatedBy == b.CreatedBy && a.Generation == b.Generation && a.ReclaimPolicy == b.ReclaimPolicy &&
		a.ReuseAfter == b.ReuseAfter && a.Consumers == b.Consumers && a.Allocated == b.Allocated && len(a.Labels)+len(b.Labels)+len(a.Annotations)+len(b.Annotations) == 0 &&
		microsUnless(a.UpdatedAt, a.CreatedAt) == microsUnless(b.UpdatedAt, b.CreatedAt)
}

func textOfClaim(c *ipam.Claim) *holdText {
	t := &holdText{
		Pool: textOfRef(c.Pool), Class: textOfRef(c.Class.Ref), CreatedBy: c.CreatedBy, Updated: microsUnless(c.UpdatedAt, c.CreatedAt),
		Owner: c.Spec.OwnerRef, Labels: c.Labels, Annotations: c.Annotations, Reuse: seconds(c.ReuseAfter), Length: c.Spec.PrefixLength,
		Consumers: c.Consumers,
	}
	if c.Project != c.Pool.Project {
		t.Holder = c.Project
	}
	if c.ReclaimPolicy != ipam.ReclaimDelete {
		t.Policy = c.ReclaimPolicy
	}
	if c.Generation != 1 {
		t.Generation = c.Generation
	}
	spec := c.Spec
	spec.OwnerRef, spec.PrefixLength = nil, nil
	if spec.PoolRef == c.Pool {
		t.Omitted, spec.PoolRef = t.Omitted|omittedPool, ipam.Ref{}
	}
	if spec.ReclaimPolicy != "" {
		t.Omitted, spec.ReclaimPolicy = t.Omitted|omittedPolicy, ""
	}
	if !isEmptySpec(&spec) {
		rest := spec
		t.Spec = &rest
	}
	if c.Allocated != (ipam.Allocated{}) {
		kept := c.Allocated
		t.Allocated = &kept
	}
	return t
}

// isEmptySpec reports whether a spec is zero. It ignores consumers, which are not stored in the spec.
func isEmptySpec(s *ipam.ClaimSpec) bool {
	return s.OwnerRef == nil && s.Scope == nil && s.Alike(&ipam.ClaimSpec{})
}

func (t *holdText) intoClaim(c *ipam.Claim) {
	c.Pool, c.Class.Ref, c.CreatedBy, c.UpdatedAt = refOfText(t.Pool), refOfText(t.Class), t.CreatedBy, momentOr(t.Updated, c.CreatedAt)
	c.Consumers = t.Consumers
	c.Labels, c.Annotations, c.ReuseAfter = t.Labels, t.Annotations, time.Duration(t.Reuse)*time.Second
	if c.Project = t.Holder; c.Project == "" {
		c.Project = c.Pool.Project
	}
	if c.ReclaimPolicy = t.Policy; c.ReclaimPolicy == "" {
		c.ReclaimPolicy = ipam.ReclaimDelete
	}
	if c.Generation = t.Generation; c.Generation == 0 {
		c.Generation = 1
	}
	if t.Spec != nil {
		c.Spec = *t.Spec
	}
	c.Spec.OwnerRef, c.Spec.PrefixLength = t.Owner, t.Length
	if t.Omitted&omittedPool != 0 {
		c.Spec.PoolRef = c.Pool
	}
	if t.Omitted&omittedPolicy != 0 {
		c.Spec.ReclaimPolicy = c.ReclaimPolicy
	}
	if t.Allocated != nil {
		c.Allocated = *t.Allocated
	}
}

func textOfAllocation(a *ipam.Allocation) *holdText {
	return &holdText{
		Pool: textOfRef(a.Pool), Class: textOfRef(a.Class.Ref), Holder: textOfRef(a.Holder), CreatedBy: a.CreatedBy,
		Created: microsUnless(a.CreatedAt, a.Since), Updated: microsUnless(a.UpdatedAt, a.Since),
		Policy: a.ReclaimPolicy, Owner: a.OwnerRef, Reason: a.Reason,
	}
}

func (t *holdText) intoAllocation(a *ipam.Allocation) {
	a.Pool, a.Class.Ref, a.Holder, a.CreatedBy = refOfText(t.Pool), refOfText(t.Class), refOfText(t.Holder), t.CreatedBy
	a.CreatedAt, a.UpdatedAt = momentOr(t.Created, a.Since), momentOr(t.Updated, a.Since)
	a.ReclaimPolicy, a.OwnerRef, a.Reason = t.Policy, t.Owner, t.Reason
}

func readHoldText(text string) (t holdText, err error) {
	err = json.Unmarshal([]byte(text), &t)
	return t, err
}

func textOfRef(r ipam.Ref) string {
	if r == (ipam.Ref{}) {
		return ""
	}
	return r.String()
}

func refOfText(s string) ipam.Ref {
	project, name, _ := strings.Cut(s, "/")
	return ipam.Ref{Project: project, Name: name}
}

// microsUnless returns t in microseconds since 1970. It returns 0 if t equals reference.
func microsUnless(t, reference time.Time) int64 {
	if t.UnixMicro() == reference.UnixMicro() {
		return 0
	}
	return t.UnixMicro()
}

func momentOr(micros int64, same time.Time) time.Time {
	if micros == 0 {
		return same
	}
	return time.UnixMicro(micros).UTC()
}
