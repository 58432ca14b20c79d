package proof_test

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/cluster"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

// remote returns a claim's name in Carve.
func remote(claim types.UID) string { return "k8s-" + string(claim) }

// held returns the blocks that Carve holds, by the names of their claims.
func (w *world) held(ctx context.Context) (map[string]string, error) {
	blocks := map[string]string{}
	for c, err := range servers.Carve.Claims(ctx, w.name) {
		if err != nil {
			return nil, err
		}
		blocks[c.Metadata.Name] = c.Status.AllocatedCIDR
	}
	return blocks, nil
}

// using returns the pods that are live consumers in Carve.
func (w *world) using(ctx context.Context) (map[types.UID]bool, error) {
	name, err := realm.NameOf(ctx, servers.Client)
	if err != nil {
		return nil, err
	}
	live, pods := carve.IPConsumerPhaseLive, map[types.UID]bool{}
	for c, err := range servers.Carve.Consumers(ctx, w.name, name, carve.ListConsumersParams{Phase: &live}) {
		if err != nil {
			return nil, err
		}
		pods[types.UID(c.Metadata.Name)] = true
	}
	return pods, nil
}

// unsettled returns the differences from the final state: each live pod has its claims with blocks, and Carve and Kubernetes have no other claims.
func (w *world) unsettled(ctx context.Context) (faults []string, err error) {
	var claims ipam.IPClaimList
	if err := servers.Client.List(ctx, &claims, client.InNamespace(w.name)); err != nil {
		return nil, err
	}
	held, err := w.held(ctx)
	if err != nil {
		return nil, err
	}
	using, err := w.using(ctx)
	if err != nil {
		return nil, err
	}
	faults, err = w.displaced(ctx, held)
	if err != nil {
		return nil, err
	}
	var all core.PodList
	if err := servers.Client.List(ctx, &all, client.InNamespace(w.name)); err != nil {
		return nil, err
	}
	pods := map[types.UID]*core.Pod{}
	for i := range all.Items {
		pods[all.Items[i].UID] = &all.Items[i]
	}
	there := map[types.UID]*ipam.IPClaim{}
	for i := range claims.Items {
		there[claims.Items[i].UID] = &claims.Items[i]
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lives {
		if !l.ended.IsZero() {
			continue
		}
		if !using[l.uid] {
			faults = append(faults, fmt.Sprintf("Carve does not know that %s lives", l))
		}
		delete(using, l.uid)
		if len(l.claims) != l.wants {
			faults = append(faults, fmt.Sprintf("%s has %d claims, and wants %d", l, len(l.claims), l.wants))
		}
		faults = append(faults, l.untold(pods[l.uid])...)
		for uid, name := range l.claims {
			faults = append(faults, l.lacks(there[uid], held[remote(uid)], uid, name)...)
			delete(there, uid)
			delete(held, remote(uid))
		}
	}
	for _, claim := range there {
		faults = append(faults, fmt.Sprintf("claim %s is there, and no pod that lives has it", claim.Name))
	}
	for name, block := range held {
		faults = append(faults, fmt.Sprintf("%s is held by %s, and no pod that lives has it", block, name))
	}
	for uid := range using {
		faults = append(faults, fmt.Sprintf("Carve believes that %s lives", uid))
	}
	return faults, nil
}

// untold returns the faults of a pod's status annotation: the entries that differ from the claims that the pod has seen.
func (l *life) untold(pod *core.Pod) (faults []string) {
	if pod == nil {
		return []string{fmt.Sprintf("pod %s is not there", l)}
	}
	told := entries.OutcomesOf(pod)
	for entry, uid := range l.made {
		if outcome := told[entry]; outcome.Claim != l.claims[uid] || outcome.CIDR != l.seen[uid].cidr {
			faults = append(faults, fmt.Sprintf("%s was told %+v for %s, and has seen %q", l, outcome, entry, l.seen[uid].cidr))
		}
	}
	return faults
}

// lacks compares a claim with Carve and with its pod's observation. It returns the fault, if any.
func (l *life) lacks(claim *ipam.IPClaim, held string, uid types.UID, name string) (faults []string) {
	switch {
	case claim == nil:
		faults = append(faults, fmt.Sprintf("claim %s of %s is not there", name, l))
	case claim.Status.CIDR == "" || claim.Status.CIDR != held:
		faults = append(faults, fmt.Sprintf("claim %s of %s says %q, and Carve holds %q for it", name, l, claim.Status.CIDR, held))
	case l.seen[uid].cidr != held:
		faults = append(faults, fmt.Sprintf("%s has seen %q, and Carve holds %q for it", l, l.seen[uid].cidr, held))
	}
	return faults
}

// settles waits until the final state is reached. It returns the remaining faults if the time is up.
func (w *world) settles(ctx context.Context, within time.Duration) []string {
	return w.until(ctx, within, w.unsettled)
}

// until waits until a check finds no faults, or the time is up. Then it returns the faults of the last check.
func (w *world) until(ctx context.Context, within time.Duration, check func(context.Context) ([]string, error)) (faults []string) {
	for end := time.Now().Add(within); ; <-time.After(200 * time.Millisecond) {
		var err error
		if faults, err = check(ctx); err == nil && len(faults) == 0 {
			return nil
		}
		if time.Now().After(end) {
			if err != nil {
				faults = append(faults, err.Error())
			}
			return faults
		}
	}
}

// judges returns the faults of the whole run. It checks the histories, the pods' observations, and Carve's own audit.
func (w *world) judges(t testing.TB) []string {
	t.Helper()
	faults := w.agree(w.histories(t))
	w.mu.Lock()
	faults = append(faults, w.faults...)
	w.mu.Unlock()
	audit := exec.CommandContext(t.Context(), cluster.Root("bin/ipamctl"), "audit", "--data-dir="+servers.CarveData())
	if text, err := audit.CombinedOutput(); err != nil {
		faults = append(faults, fmt.Sprintf("the audit: %v: %s", err, text))
	}
	return faults
}

// histories returns the past and present holders of each address in the pool.
func (w *world) histories(t testing.TB) map[string][]carve.HistoryEntry {
	t.Helper()
	var mu sync.Mutex
	var asking sync.WaitGroup
	addresses, all := make(chan string), map[string][]carve.HistoryEntry{}
	for range 4 {
		asking.Go(func() {
			for address := range addresses {
				var entries []carve.HistoryEntry
				for e, err := range servers.Carve.HistoryEntries(t.Context(), w.name, carve.GetHistoryParams{Address: address}) {
					if err != nil {
						t.Errorf("the history of %s: %v", address, err)
						break
					}
					entries = append(entries, e)
				}
				mu.Lock()
				all[address+"/32"] = entries
				mu.Unlock()
			}
		})
	}
	for a := w.pool.Addr(); w.pool.Contains(a); a = a.Next() {
		addresses <- a.String()
	}
	close(addresses)
	asking.Wait()
	return all
}

// span is a time in which a claim, a pod or a machine had a block.
type span struct {
	who         string
	from, until time.Time
}

// agree compares the pods' observations with the histories. A block never has two holders at one time, and each pod had the block that it saw until
// its end.
func (w *world) agree(histories map[string][]carve.HistoryEntry) (faults []string) {
	now := time.Now()
	holds, sights := map[string][]span{}, map[string][]span{}
	for block, entries := range histories {
		for _, e := range entries {
			if e.Purpose != carve.HistoryPurposeClaim || e.ClaimRef == nil {
				continue
			}
			hold := span{e.ClaimRef.Name, e.Since, now}
			if e.Until != nil {
				hold.until = *e.Until
			}
			holds[block] = append(holds[block], hold)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.lives {
		until := now
		if !l.ended.IsZero() {
			until = l.ended
		}
		for uid, saw := range l.seen {
			sights[saw.cidr] = append(sights[saw.cidr], span{l.String(), saw.since, until})
			if !slices.ContainsFunc(holds[saw.cidr], func(h span) bool {
				return h.who == remote(uid) && !h.from.After(saw.since) && !h.until.Before(until)
			}) {
				faults = append(faults, fmt.Sprintf("%s had %s from %s to %s, and the history says %v", l, saw.cidr, saw.since, until, holds[saw.cidr]))
			}
		}
	}
	for name, m := range w.machines {
		until := now
		if !m.ended.IsZero() {
			until = m.ended
		}
		if m.saw.cidr == "" || !until.After(m.saw.since) {
			continue
		}
		sights[m.saw.cidr] = append(sights[m.saw.cidr], span{"machine " + name, m.saw.since, until})
		if !slices.ContainsFunc(holds[m.saw.cidr], func(h span) bool { return !h.from.After(m.saw.since) && !h.until.Before(until) }) {
			faults = append(faults, fmt.Sprintf("machine %s had %s from %s to %s, with %d moves, and the history says %v",
				name, m.saw.cidr, m.saw.since, until, m.moves, holds[m.saw.cidr]))
		}
	}
	return append(append(faults, beside("by the history", holds)...), beside("by what they saw", sights)...)
}

// beside returns the pairs that had a block at the same time.
func beside(by string, had map[string][]span) (faults []string) {
	for block, spans := range had {
		slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
		for i := 1; i < len(spans); i++ {
			if before, after := spans[i-1], spans[i]; after.from.Before(before.until) {
				faults = append(faults, fmt.Sprintf("%s: %s and %s had %s at the same time, %s, from %s to %s",
					by, before.who, after.who, block, by, after.from, before.until))
			}
		}
	}
	return faults
}

// nothing requires that there are no faults. It shows the first faults, and the ends of the logs.
func (w *world) nothing(t testing.TB, faults []string) {
	t.Helper()
	if len(faults) == 0 {
		return
	}
	tail, _ := exec.CommandContext(t.Context(), "sh", "-c", "tail -n 5 "+w.dir+"/*.log | cut -c1-400").Output()
	require.Failf(t, "faults", "%d, the first of them:\n%s\n%s", len(faults), strings.Join(faults[:min(len(faults), 10)], "\n"), tail)
}
