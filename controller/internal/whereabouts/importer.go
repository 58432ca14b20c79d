package whereabouts

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	condition "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// Importer creates an IPClaim for each record whose pod provably has the address. The IPClaim requests the record's address, and the pod owns the
// IPClaim. The controller then claims the address in Carve and makes the pod its consumer.
type Importer struct {
	// Live reads from the API server and writes to it.
	Live client.Client
	// Carve provides the pools of the project, and checks whether an address is free.
	Carve   *carve.Carve
	Project string
	// Pool is the pool for all addresses. If it is empty, the importer chooses the project's smallest pool that contains the address.
	Pool string
	// DryRun changes nothing.
	DryRun bool
	// Wait is the time for which the importer waits for the controller after it has created the claims.
	Wait time.Duration
}

// Outcome is the result for a record.
type Outcome string

// Outcomes for records.
const (
	// WouldTake means that a run without DryRun would take the address over.
	WouldTake Outcome = "would take"
	// Taken means that Carve holds the address for the pod.
	Taken Outcome = "taken"
	// Waiting means that the IPClaim exists, and that the controller has not bound it yet.
	Waiting Outcome = "waiting"
	// Unproven means that no evidence shows that a live pod has the address.
	Unproven Outcome = "unproven"
	// Refused means that Carve cannot provide the address.
	Refused Outcome = "refused"
)

// Result is one record's outcome and its reason.
type Result struct {
	Record
	Outcome Outcome
	Why     string
	claim   *ipam.IPClaim
}

// Run takes the records over. A repetition keeps existing claims.
func (i *Importer) Run(ctx context.Context, records []Record) ([]Result, error) {
	pools, err := i.pools(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]Result, 0, len(records))
	for _, r := range records {
		result, err := i.take(ctx, r, pools)
		if err != nil {
			return results, fmt.Errorf("%s: %w", r.Source, err)
		}
		results = append(results, result)
	}
	return results, i.await(ctx, results)
}

// take creates the IPClaim of one record, if the record is proven.
func (i *Importer) take(ctx context.Context, r Record, pools map[netip.Prefix]string) (Result, error) {
	result := Result{Record: r, Outcome: Unproven, Why: r.Problem}
	if r.Problem != "" {
		return result, nil
	}
	pod, why, err := i.prove(ctx, r)
	if err != nil || why != "" {
		result.Why = why
		return result, err
	}
	claim := i.claim(r, pod, pools)
	if claim.Spec.PoolRef == nil {
		result.Outcome, result.Why = Refused, "no pool of the project has the address"
		return result, nil
	}
	var before ipam.IPClaim
	switch err := i.Live.Get(ctx, client.ObjectKeyFromObject(claim), &before); {
	case err == nil && ownedBy(&before, pod.UID) && before.Spec.Address == claim.Spec.Address:
		result.Outcome, result.claim = Waiting, &before
		return result, nil
	case err == nil:
		result.Outcome, result.Why = Refused, fmt.Sprintf("IPClaim %s belongs to another owner", claim.Name)
		return result, nil
	case !api.IsNotFound(err):
		return result, err
	}
	if why, err := i.refused(ctx, claim); err != nil || why != "" {
		result.Outcome, result.Why = Refused, why
		return result, err
	}
	if i.DryRun {
		result.Outcome, result.Why = WouldTake, "from pool "+string(claim.Spec.PoolRef.Name)
		return result, nil
	}
	result.Outcome, result.claim = Waiting, claim
	return result, i.Live.Create(ctx, claim)
}

// prove returns the live pod that has the address according to its own network status. The record alone is no proof, because an earlier pod may have
// had the same name.
func (i *Importer) prove(ctx context.Context, r Record) (pod *core.Pod, why string, err error) {
	pod = new(core.Pod)
	if err := i.Live.Get(ctx, r.Pod, pod); api.IsNotFound(err) {
		return nil, "there is no such pod", nil
	} else if err != nil {
		return nil, "", err
	}
	if verdict, why := podstate.Assess(pod, pod.UID, podstate.Options{CleanupTerminating: true, CleanupDisrupted: true}); verdict != podstate.Keep {
		return nil, why, nil
	}
	switch podstate.Network(pod, r.Interface, block(r.Address)) {
	case podstate.Listed:
		return pod, "", nil
	case podstate.Missing:
		return nil, "the pod's network status does not have the address", nil
	default:
		return nil, "the pod has no network status with the address", nil
	}
}

// block returns an address as a CIDR.
func block(a netip.Addr) string { return netip.PrefixFrom(a, a.BitLen()).String() }

// claim returns a record's IPClaim. The name depends only on the pod and the address, so a repetition creates no second claim.
func (i *Importer) claim(r Record, pod *core.Pod, pools map[netip.Prefix]string) *ipam.IPClaim {
	yes := true
	entry := strings.NewReplacer(".", "-", ":", "-").Replace(r.Address.StringExpanded())
	claim := &ipam.IPClaim{
		ObjectMeta: meta.ObjectMeta{
			Namespace: pod.Namespace, Name: entries.ClaimName(pod.Name, pod.UID, entry, 0),
			OwnerReferences: []meta.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &yes}},
		},
		Spec: ipam.IPClaimSpec{Address: r.Address.String()},
	}
	if r.Interface != "" {
		claim.Annotations = map[string]string{ipam.InterfaceAnnotation: r.Interface}
	}
	if name := i.pool(r.Address, pools); name != "" {
		claim.Spec.PoolRef = &ipam.PoolRef{Name: ipam.Name(name)}
	}
	return claim
}

func ownedBy(claim *ipam.IPClaim, uid types.UID) bool {
	owner := meta.GetControllerOf(claim)
	return owner != nil && owner.UID == uid
}

// pools returns the names of the project's pools by their blocks.
func (i *Importer) pools(ctx context.Context) (map[netip.Prefix]string, error) {
	pools := map[netip.Prefix]string{}
	for pool, err := range i.Carve.Pools(ctx, i.Project) {
		if err != nil {
			return nil, err
		}
		at, err := netip.ParsePrefix(pool.Status.AllocatedCIDR)
		if err != nil {
			return nil, err
		}
		if other, twice := pools[at]; twice && i.Pool == "" {
			return nil, fmt.Errorf("pools %s and %s both have %s: set --pool", other, pool.Metadata.Name, at)
		}
		pools[at] = pool.Metadata.Name
	}
	return pools, nil
}

// pool returns the pool for an address, or "".
func (i *Importer) pool(a netip.Addr, pools map[netip.Prefix]string) (name string) {
	if i.Pool != "" {
		return i.Pool
	}
	longest := -1
	for at, pool := range pools {
		if at.Contains(a) && at.Bits() > longest {
			name, longest = pool, at.Bits()
		}
	}
	return name
}

// refused returns Carve's reason to refuse an address, or "". It uses a dry run.
func (i *Importer) refused(ctx context.Context, claim *ipam.IPClaim) (why string, err error) {
	dry := carve.DryRun(true)
	put := carve.IPClaimPut{Spec: carve.IPClaimSpec{Address: claim.Spec.Address, PoolRef: &carve.Ref{Name: string(claim.Spec.PoolRef.Name)}}}
	_, err = i.Carve.PutClaim(ctx, i.Project, claim.Name, put, carve.PutClaimParams{DryRun: &dry})
	problem, refusal := carve.AsProblem(err)
	if !refusal || carve.IsNotFound(err) {
		return "", err
	}
	return fmt.Sprintf("%s (%s)", problem.Detail, problem.Code), nil
}

// await waits until the controller has bound the claims, or the time is up. It records the reasons of unbound claims.
func (i *Importer) await(ctx context.Context, results []Result) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	end := time.Now().Add(i.Wait)
	for n := range results {
		r := &results[n]
		for r.claim != nil && r.Outcome == Waiting {
			err := i.Live.Get(ctx, client.ObjectKeyFromObject(r.claim), r.claim)
			if client.IgnoreNotFound(err) != nil {
				return err
			}
			ready := condition.FindStatusCondition(r.claim.Status.Conditions, conditions.Ready)
			switch {
			case ready == nil:
				r.Why = "the controller has not seen it yet"
			case ready.Status == meta.ConditionTrue:
				r.Outcome, r.Why = Taken, "IPClaim "+r.claim.Name
			default:
				r.Why = ready.Message
			}
			if r.Outcome != Waiting || time.Now().After(end) {
				break
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
	}
	return nil
}
