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

// These are the kinds of resources in the audit trail.
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

// Changed returns the event for a change by the request's caller. before and after are the resource's records. A record is nil if the resource does
// not exist at that moment. The transaction that makes the change must also write the event.
func Changed(ctx context.Context, at usecase.Timestamp, projectID ipam.ID, kind, name string, before, after *Record) (ipam.Event, error) {
	return Effected(Attempt(ctx, at, projectID, kind, name), before, after)
}

// Effected completes the event that Attempt made, for an attempt that succeeds. Call Attempt before the transaction and Effected in it. Then a retry
// writes an event with the same id.
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

// Unrecorded returns the error for a change that fails because Carve cannot encode its event.
func Unrecorded(err error) error {
	return ipam.Errorf(ipam.CodeInternal, "The change cannot be recorded; nothing was changed.").WithCause(err)
}

// ClaimEvent completes the event for a change to a claim. before is nil if the change creates the claim, and after is nil if it releases the claim.
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

// AttachEvent completes the event for consumers that are attached to a claim. before is nil if the same attempt creates the claim.
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

// DetachEvent completes the event for a consumer that is detached from a claim, with the reason. after is nil if the detachment also releases the
// claim.
func DetachEvent(e ipam.Event, before, after *ipam.Claim, because ipam.ReleaseCause) (ipam.Event, error) {
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

// Attempt begins an event with the caller, the request's origin, and the resource.
func Attempt(ctx context.Context, at usecase.Timestamp, projectID ipam.ID, kind, name string) ipam.Event {
	who, _ := tenancy.From(ctx)
	origin := tenancy.OriginOf(ctx)
	return ipam.Event{
		ID: ipam.NewTimeID(at), ProjectID: projectID, At: at,
		Subject: who.Subject, Method: who.Method, Remote: origin.Remote, RequestID: origin.RequestID, Operation: origin.Operation,
		Kind: kind, Name: name,
	}
}

// Record is a resource's state in the audit trail. It has the fields that callers set, and the block that the resource got. It has no secrets.
type Record struct {
	Labels        map[string]string `json:"labels,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
	Spec          any               `json:"spec,omitempty"`
	AllocatedCIDR string            `json:"allocatedCIDR,omitempty"`
	PoolRef       *ipam.Ref         `json:"poolRef,omitempty"`
	ClassRef      *ipam.Ref         `json:"classRef,omitempty"`
	Scope         *recordedScope    `json:"scope,omitempty"`
	Phase         string            `json:"phase,omitempty"`
	AllocationRef *ipam.Ref         `json:"allocationRef,omitempty"` // a claim's allocation, if the claim is released or its block will be retained
	Owner         ipam.QuotaOwner   `json:"owner,omitempty"`         // for a quota
	Consumers     int               `json:"consumers,omitempty"`     // number attached to a claim
	Attached      []string          `json:"attached,omitempty"`      // to a claim
	Detached      []string          `json:"detached,omitempty"`      // from a claim
	Because       string            `json:"because,omitempty"`       // the reason for a detachment or an end, such as Expired
}

// Recorded returns the record for a resource that has only metadata and a spec.
func Recorded(m ipam.Metadata, spec any) *Record {
	return &Record{Labels: m.Labels, Annotations: m.Annotations, Spec: spec}
}

// recordedClaim returns a claim's record. To save copies, the record points to the claim's fields. So the caller must encode the record before it
// changes the claim.
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

// recordedBefore returns a claim's record before a change. If the change releases the claim, the record names the allocation, so that the feed can
// report its end.
func recordedBefore(c, after *ipam.Claim) *Record {
	r := recordedClaim(c)
	if after == nil {
		r.AllocationRef = allocationOf(c)
	}
	return r
}

// KeptAs returns a reference to the allocation that stays after a claim's release. It returns nil if the release does not retain the block.
func KeptAs(c *ipam.Claim) *ipam.Ref {
	if c.ReclaimPolicy != ipam.ReclaimRetain {
		return nil
	}
	return allocationOf(c)
}

func allocationOf(c *ipam.Claim) *ipam.Ref {
	return &ipam.Ref{Project: c.Pool.Project, Name: c.AllocationID.String()}
}

// RecordedPool returns a pool's record.
func RecordedPool(p ipam.Pool) *Record {
	spec := struct {
		ipam.PoolSpec
		ReuseAfter string `json:"reuseAfter,omitempty"` // in the API's format
	}{p.Spec, usecase.DurationText(p.Spec.ReuseAfter)}
	r := Recorded(p.Metadata, spec)
	r.AllocatedCIDR = p.Block.String()
	if p.Scope != nil {
		r.Scope = &recordedScope{ClassRef: p.Scope.Class.Ref, Project: p.Scope.Project}
	}
	return r
}

// recordedScope is the scope for which Carve made a pool. It leaves out the scope's values, because they are data of the claiming project.
type recordedScope struct {
	ClassRef ipam.Ref `json:"classRef"`
	Project  string   `json:"project"`
}

// RecordedAllocation returns the record for an allocation.
func RecordedAllocation(a ipam.Allocation) *Record {
	return &Record{AllocatedCIDR: a.Block.String(), PoolRef: &a.Pool, Phase: string(a.Phase)}
}

// differences returns the JSON for two records, reduced to the members that differ.
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

// dropEqual removes the members that two JSON objects have in common.
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
