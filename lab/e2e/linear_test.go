package e2e

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"testing"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
	"github.com/carve-ipam/carve/lab/consistency"
)

// overHTTP makes a server the target of a workload. It repeats each claim (as a PUT) and each release until the response is certain. A response "not
// found" to a release is not certain if an earlier attempt may have released the claim.
type overHTTP struct {
	*caller
	t testing.TB
}

func (h overHTTP) Claim(ctx context.Context, pool, name string, bits int) (netip.Prefix, error) {
	return h.put(ctx, name, from(pool, bits))
}

func (h overHTTP) ClaimBlock(ctx context.Context, pool, name string, block netip.Prefix) (netip.Prefix, error) {
	return h.put(ctx, name, obj{"poolRef": obj{"name": pool}, "cidr": block.String()})
}

func (h overHTTP) put(ctx context.Context, name string, spec obj) (netip.Prefix, error) {
	a, _, err := h.insist(ctx, http.MethodPut, at("claims", name), obj{"spec": spec})
	if err != nil {
		return netip.Prefix{}, err
	}
	if err := asError(a); err != nil {
		return netip.Prefix{}, err
	}
	return netip.ParsePrefix(decode[client.IPClaim](h.t, a).Status.AllocatedCIDR)
}

func (h overHTTP) Release(ctx context.Context, _, name string) error {
	a, repeated, err := h.insist(ctx, http.MethodDelete, at("claims", name), nil)
	if err != nil {
		return err
	}
	if repeated && a.status == http.StatusNotFound {
		return errors.New("released by this request, by an earlier one, or never claimed")
	}
	return asError(a)
}

func (h overHTTP) insist(ctx context.Context, method, path string, body any) (a answer, repeated bool, err error) {
	for ; ctx.Err() == nil; repeated = true {
		if a, err = h.try(ctx, h.t, method, path, body); err == nil && a.status < 500 {
			return a, repeated, nil
		}
	}
	return a, repeated, ctx.Err()
}

func asError(a answer) error {
	if p, isProblem := problemOf(a); isProblem {
		return ipam.Errorf(ipam.Code(p.Code), "%s", p.Detail)
	}
	return nil
}

// The claims and releases must have an order in which each response is right.
func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	workload := consistency.Workload{
		Pools: []consistency.Pool{
			{Name: "four", Block: netip.MustParsePrefix("10.0.0.0/28"), Unit: 32},
			{Name: "six", Block: netip.MustParsePrefix("2001:db8::/125"), Unit: 128},
		},
		Clients: 9, Operations: 60,
	}
	faults := func(seed uint64) []pgfault.Rule {
		return []pgfault.Rule{
			pgfault.Probability(0.1, seed, pgfault.CommittedAnswerLost()),
			pgfault.Probability(0.1, seed, pgfault.LostBeforeCommit()),
			pgfault.Probability(0.1, seed, pgfault.CommitSerializationFailure()),
			pgfault.Probability(0.1, seed, pgfault.CommitAmbiguous40003()),
			pgfault.Probability(0.01, seed, pgfault.ConnectionLost()),
			pgfault.Probability(0.01, seed, pgfault.StatementSerializationFailure()),
		}
	}
	for name, tc := range map[string]struct {
		servers int
		seed    uint64
		rules   func(uint64) []pgfault.Rule
	}{
		"ThroughOneServer":                {1, 1, nil},
		"ThroughThreeServers":             {3, 2, nil},
		"ThroughThreeServersUnderFaults":  {3, 3, faults},
		"ThroughOneServerUnderManyFaults": {1, 4, func(seed uint64) []pgfault.Rule { return append(faults(seed), faults(seed+1)...) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := database(t)
			var targets []consistency.Target
			for i := range tc.servers {
				s := startCutSite(t, dsn)
				if i == 0 {
					s.created(t, s.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
					for _, p := range workload.Pools {
						s.pool(t, p.Name, obj{"cidr": p.Block.String()})
					}
				}
				if tc.rules != nil {
					s.proxy.SetRules(tc.rules(tc.seed + uint64(i))...)
				}
				targets = append(targets, overHTTP{s.caller, t})
			}
			w := workload
			w.Seed = tc.seed
			consistency.Require(t, w.Run(t.Context(), targets...))
		})
	}
}
