package trail

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// The kinds of resources, as the trail names them.
const (
	KindProject    = "Project"
	KindSpace      = "Space"
	KindPool       = "IPPool"
	KindClaim      = "IPClaim"
	KindAllocation = "IPAllocation"
	KindMember     = "Member"
	KindKey        = "ApiKey"
	KindPoolGrant  = "PoolGrant"
	KindSpaceGrant = "SpaceGrant"
	KindQuota      = "Quota"
	KindClass      = "IPClass"
	KindConsumer   = "IPConsumer"
	KindRealm      = "Realm"
	KindWebhook    = "Webhook"
	KindAlertRule  = "AlertRule"
	KindAlert      = "Alert"
)

// Changed makes the record of a change that the caller of ctx makes at a time: before and after are what recorded answers, or
// nil where there is nothing. It belongs into the Events of the transaction that makes the change.
func Changed(ctx context.Context, at usecase.Timestamp, projectID ipam.ID, kind, name string, before, after *Record) (ipam.Event, error) {
	return Effected(Attempt(ctx, at, projectID, kind, name), before, after)
}

// Effected is the record of an attempt that has its effect. Where what is changed is known only inside of the transaction, the
// attempt is made before it: a transaction that runs again writes the same event.
func Effected(e ipam.Event, before, after *Record) (ipam.Event, error) {
	e.Outcome = ipam.OutcomeOK
	var err error
	switch {
	case before == nil && after == nil:
	case before == nil:
		e.After, err = json.Marshal(after)
	case after == nil:
		e.Before, err = json.Marshal(before)
	default:
		e.Before, e.After, err = differences(before, after)
	}
	if err != nil {
		return e, Unrecorded(err)
	}
	return e, nil
}

// Unrecorded refuses a change that cannot be recorded.
func Unrecorded(err error) error {
	return ipam.Errorf(ipam.CodeInternal, "The change cannot be recorded; nothing was changed.").Because(err)
}

// ClaimEvent is the record of an attempt on a claim that has its effect; nil: there was, or is, none.
func ClaimEvent(e ipam.Event, before, after *ipam.Claim) (ipam.Event, error) {
	var was, is *Record
	if before != nil {
		was, e.Name = recordedBefore(before, after), before.Name
	}
	if after != nil {
		is, e.Name = recordedClaim(after), after.Name
	}
	return Effected(e, was, is)
}

// AttachEvent is the record of an attempt that attaches consumers to a claim, which it makes when there was none.
func AttachEvent(e ipam.Event, before, after *ipam.Claim, attached []ipam.NewConsumer) (ipam.Event, error) {
	var was *Record
	if before != nil {
		was = recordedClaim(before)
	}
	is := recordedClaim(after)
	for _, n := range attached {
		is.Attached = append(is.Attached, n.Ref.String())
	}
	e.Name = after.Name
	return Effected(e, was, is)
}

// DetachEvent is the record of an attempt that detaches a consumer from a claim, and says why. after is nil when that released the claim.
func DetachEvent(e ipam.Event, before, after *ipam.Claim, because ipam.Because) (ipam.Event, error) {
	was, e2 := recordedBefore(before, after), e
	e2.Name = before.Name
	is := was
	if after != nil {
		is = recordedClaim(after)
	}
	is.Detached, is.Because = []string{because.Consumer.String()}, string(because.Reason)
	if after == nil {
		is = nil
	}
	return Effected(e2, was, is)
}

// Attempt is who does what, from where.
func Attempt(ctx context.Context, at usecase.Timestamp, projectID ipam.ID, kind, name string) ipam.Event {
	who, _ := tenancy.From(ctx)
	origin := tenancy.OriginOf(ctx)
	return ipam.Event{
		ID: ipam.NewTimeID(at), ProjectID: projectID, At: at,
		Subject: who.Subject, Method: who.Method, Remote: origin.Remote, RequestID: origin.RequestID, Operation: origin.Operation,
		Kind: kind, Name: name,
	}
}

// Record is what the trail keeps of a resource: what callers write of it, and the block it got. It holds no secrets.
type Record struct {
	Labels        map[string]string `json:"labels,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
	Spec          any               `json:"spec,omitempty"`
	AllocatedCIDR string            `json:"allocatedCIDR,omitempty"`
	PoolRef       *ipam.Ref         `json:"poolRef,omitempty"`
	ClassRef      *ipam.Ref         `json:"classRef,omitempty"`
	Scope         *recordedScope    `json:"scope,omitempty"`
	Phase         string            `json:"phase,omitempty"`
	AllocationRef *ipam.Ref         `json:"allocationRef,omitempty"` // of a claim that was released, or whose block will be retained: it has this name then
	Owner         ipam.QuotaOwner   `json:"owner,omitempty"`         // of a quota
	Consumers     int               `json:"consumers,omitempty"`     // of a claim: how many are attached
	Attached      []string          `json:"attached,omitempty"`      // to a claim
	Detached      []string          `json:"detached,omitempty"`      // from a claim
	Because       string            `json:"because,omitempty"`       // why
}

// Recorded is the record of a resource that is its metadata and its spec.
func Recorded(m ipam.Metadata, spec any) *Record {
	return &Record{Labels: m.Labels, Annotations: m.Annotations, Spec: spec}
}

// recordedClaim points into the claim, which is on the heap wherever many are made: it is marshalled at once.
func recordedClaim(c *ipam.Claim) *Record {
	var b [64]byte
	r := Recorded(c.Metadata, &c.Spec)
	r.AllocatedCIDR, r.PoolRef, r.AllocationRef = string(c.Block.AppendTo(b[:0])), &c.Pool, KeptAs(c)
	if !c.Class.IsZero() {
		r.ClassRef = &c.Class.Ref
	}
	r.Consumers = c.Consumers
	return r
}

// recordedBefore is a claim as it was. Of one that is released it has what it held, too: by that the feed tells of the end of the allocation.
func recordedBefore(c, after *ipam.Claim) *Record {
	r := recordedClaim(c)
	if after == nil {
		r.AllocationRef = allocationOf(c)
	}
	return r
}

// KeptAs is under which name a claim's block will be retained; nil when it will not be.
func KeptAs(c *ipam.Claim) *ipam.Ref {
	if c.ReclaimPolicy != ipam.ReclaimRetain {
		return nil
	}
	return allocationOf(c)
}

func allocationOf(c *ipam.Claim) *ipam.Ref {
	return &ipam.Ref{Project: c.Pool.Project, Name: c.AllocationID.String()}
}

// RecordedPool is a pool as the trail records it.
func RecordedPool(p ipam.Pool) *Record {
	spec := struct {
		ipam.PoolSpec
		ReuseAfter string `json:"reuseAfter,omitempty"` // in the words of callers
	}{p.Spec, usecase.DurationText(p.Spec.ReuseAfter)}
	r := Recorded(p.Metadata, spec)
	r.AllocatedCIDR = p.Block.String()
	if p.Scope != nil {
		r.Scope = &recordedScope{ClassRef: p.Scope.Class.Ref, Project: p.Scope.Project}
	}
	return r
}

// recordedScope says whom a scoped pool was carved for. The values are the claiming project's own.
type recordedScope struct {
	ClassRef ipam.Ref `json:"classRef"`
	Project  string   `json:"project"`
}

// RecordedAllocation is an allocation as the trail records it.
func RecordedAllocation(a ipam.Allocation) *Record {
	return &Record{AllocatedCIDR: a.Block.String(), PoolRef: &a.Pool, Phase: string(a.Phase)}
}

// differences answers of two records only what differs, member by member.
func differences(before, after *Record) (b, a json.RawMessage, err error) {
	var was, is map[string]any
	for _, each := range []struct {
		from *Record
		to   *map[string]any
	}{{before, &was}, {after, &is}} {
		text, err := json.Marshal(each.from)
		if err != nil {
			return nil, nil, err
		}
		decode := json.NewDecoder(bytes.NewReader(text))
		decode.UseNumber()
		if err := decode.Decode(each.to); err != nil {
			return nil, nil, err
		}
	}
	dropEqual(was, is)
	if b, err = json.Marshal(was); err != nil {
		return nil, nil, err
	}
	a, err = json.Marshal(is)
	return b, a, err
}

// dropEqual removes from two objects what they have in common.
func dropEqual(a, b map[string]any) {
	for name := range maps.Clone(a) {
		x, isObject := a[name].(map[string]any)
		y, alsoObject := b[name].(map[string]any)
		if isObject && alsoObject {
			dropEqual(x, y)
			if len(x) == 0 && len(y) == 0 {
				delete(a, name)
				delete(b, name)
			}
			continue
		}
		other, there := b[name]
		if there && equalJSON(a[name], other) {
			delete(a, name)
			delete(b, name)
		}
	}
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
