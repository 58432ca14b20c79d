package cli

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) claimCommand() *cobra.Command {
	within := p.inProject
	complete := p.completeClaims()
	read := func(ctx context.Context, s *session, name string) (*http.Response, error) {
		return s.api.GetClaim(ctx, s.project, name, nil)
	}
	return group("claim", "Requests for one block each; the answer holds the block", []string{"claims"},
		p.claimCreate(),
		p.claimPut(complete),
		p.claimSet(complete),
		p.claimBatch(),
		p.claimExplain(),
		p.claimList(within),
		getVerb(p, claimView(), within, complete, read),
		showVerb(p, claimView(), within, complete, read),
		p.deleteVerb(removal{
			kind: "claim", within: within, complete: complete, read: read, left: blockKept,
			long: "Gives the blocks of claims back, at once or after the cool-down of their class or pool; with --reclaim-policy Retain\ntheir allocations keep them.",
			send: func(ctx context.Context, s *session, name string, d deleting) (*http.Response, error) {
				return s.api.DeleteClaim(ctx, s.project, name, &client.DeleteClaimParams{DryRun: d.dry(), IfMatch: d.match()})
			},
		}),
	)
}

// blockKept says of a claim whose block will be kept which block it is and by which allocation, by the name that --allocation takes.
func blockKept(ctx context.Context, s *session, name string, dry bool) (string, error) {
	found, err := s.ask(ctx, func(ctx context.Context) (*http.Response, error) { return s.api.GetClaim(ctx, s.project, name, nil) })
	if err != nil {
		return "", err
	}
	claims, err := decode[client.IPClaim]([]json.RawMessage{found.body})
	if err != nil || claims[0].Status.ReclaimPolicy != client.ReclaimPolicyRetain {
		return "", err
	}
	verb, is := "is", claims[0].Status
	if dry {
		verb = "would be"
	}
	return "; " + is.AllocatedCIDR + " " + verb + " retained as allocation " + refText(&is.AllocationRef, s.project), nil
}

// claimFilters are the filters of a list of claims; the pool and the class are apart, because they are checked first.
type claimFilters struct {
	selector, phase, within, contains string
	family                            family
	class                             *client.ClassFilter
}

func (p *program) claimList(within func() (*session, error)) *cobra.Command {
	var f claimFilters
	var pool, class string
	return listVerb(p, claimView(), "Lists the claims of the project, in order of name, or with --pool in order of address. Filters add up.",
		within,
		func(cmd *cobra.Command) {
			selectorFlag(cmd, &f.selector, "claims")
			choiceFlag(cmd, &f.phase, "phase", "only claims in this phase", client.IPClaimPhaseBound, client.IPClaimPhasePending,
				client.IPClaimPhaseReleasing, client.IPClaimPhaseError)
			cmd.Flags().Var(&f.family, "family", "only blocks of this address family: IPv4, IPv6")
			cmd.Flags().StringVar(&pool, "pool", "", "only what was carved from this `POOL`, name or project/name")
			classFilter(p, cmd, &class, "only what this `CLASS` served")
			placeFlags(cmd, &f.within, &f.contains)
			completeFlag(cmd, "pool", p.completePools())
		},
		func(s *session) (fetch, error) {
			ref, err := refFilter("pool", pool)
			if err != nil {
				return nil, err
			}
			if f.class, err = classFiltered(class); err != nil {
				return nil, err
			}
			return s.fetchClaims(f, ref), nil
		})
}

func (s *session) fetchClaims(f claimFilters, pool *client.PoolFilter) fetch {
	return func(ctx context.Context, ask asking) (*http.Response, error) {
		return s.api.ListClaims(ctx, s.project, &client.ListClaimsParams{
			LabelSelector: optional[client.LabelSelectorFilter](f.selector),
			Phase:         optional[client.ClaimPhaseFilter](f.phase),
			IPFamily:      optional[client.FamilyFilter](f.family),
			Pool:          pool,
			Class:         f.class,
			Within:        optional[client.WithinFilter](f.within),
			Contains:      optional[client.ContainsFilter](f.contains),
			Limit:         ask.limit,
			Cursor:        ask.cursor,
			Consistency:   ask.consistency,
		})
	}
}
