package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
)

const mostDigits = 39 // of a count in the contract: those of 2^128

// quotaFlags are what a quota is to be. What is not given stays as it is.
type quotaFlags struct {
	replacing
	addresses, claims, pools string
	pool, class, description string
	family                   family
}

func (p *program) quotaSet(complete completion) *cobra.Command {
	var f quotaFlags
	cmd := &cobra.Command{
		Use:   "set NAME [--addresses N] [--claims N] [--pools N] [--for-pool POOL] [--for-class CLASS] [--family FAMILY]",
		Short: "Make a quota, or change what is given of it",
		Long: `Bounds what the project may hold: addresses of the blocks that claims hold, claims, pools. What is not given of a quota
that exists stays as it is; 'none' takes a limit away. A limit below what is used takes nothing away and stops what is new.

A new quota counts everything, or with --for-pool only what is carved from that pool (a name, or project/name of another
project's), with --for-class only what that class serves (a class of the platform is platform/name) and with --family only that
address family. What it counts never changes.`,
		Example: `  ipamctl quota set all --addresses 65536 --claims 1000 --pools 10
  ipamctl quota set shared-eu --for-pool platform/shared-eu --addresses 4096
  ipamctl quota set gold --for-class platform/gold --claims 20
  ipamctl quota set all --pools none`,
		Args:              names("quota", 1, 1),
		ValidArgsFunction: complete,
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		if _, err := f.merged(cmd.Flags(), client.QuotaSpec{}); err != nil {
			return err // of the command line: nothing is sent
		}
		s, err := p.inProject()
		if err != nil {
			return err
		}
		return s.setQuota(ctx, args[0], f, cmd.Flags())
	})
	flags := cmd.Flags()
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "ip-family": // as the contract calls it
			name = "family"
		case "class": // as everywhere else
			name = "for-class"
		}
		return pflag.NormalizedName(name)
	})
	flags.StringVar(&f.addresses, "addresses", "", "most addresses, `N` or none")
	flags.StringVar(&f.claims, "claims", "", "most claims, `N` or none")
	flags.StringVar(&f.pools, "pools", "", "most pools, `N` or none")
	flags.StringVar(&f.pool, "for-pool", "", "count only what is carved from this `POOL`, name or project/name")
	flags.StringVar(&f.class, "for-class", "", "count only what this `CLASS` serves, name or project/name")
	flags.Var(&f.family, "family", "count only this address family: IPv4, IPv6")
	flags.StringVar(&f.description, "description", "", "`TEXT`: what it is for")
	completeFlag(cmd, "for-pool", p.completePools())
	completeFlag(cmd, "for-class", p.completeClasses())
	f.add(cmd)
	return cmd
}

// setQuota reads the quota, merges what was given into it, and replaces that very revision: what somebody else changed
// meanwhile is not lost but a conflict.
func (s *session) setQuota(ctx context.Context, name string, f quotaFlags, flags *pflag.FlagSet) error {
	var is client.Quota
	found, err := s.ask(ctx, func(ctx context.Context) (*http.Response, error) { return s.api.GetQuota(ctx, s.project, name) })
	switch {
	case exitCodeOf(err) == exitNotFound: // the quota, or the project: the put will tell
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(found.body, &is); err != nil {
			return fmt.Errorf("cannot read the server's answer: %w", err)
		}
		f.ifMatch = firstOf(f.ifMatch, found.header.Get("ETag"))
	}
	spec, err := f.merged(flags, is.Spec)
	if err != nil {
		return err
	}
	if (spec.Limits == client.QuotaLimits{}) {
		return usagef("a quota needs a limit: --addresses, --claims or --pools; 'ipamctl quota delete %s' takes it away", name)
	}
	a, err := s.put(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.api.PutQuota(ctx, s.project, name, &client.PutQuotaParams{DryRun: f.dry(), IfMatch: f.match()}, client.QuotaPut{Spec: spec})
	})
	if err != nil {
		if unsettled(err) {
			return fmt.Errorf("%w\nIt is not known whether the quota was set: run it again, it says how things are to be", err)
		}
		return err
	}
	return one(s.program, quotaView(), a.body)
}

// merged is a spec with what was given in the place of what was there.
func (f *quotaFlags) merged(flags *pflag.FlagSet, spec client.QuotaSpec) (client.QuotaSpec, error) {
	if flags.Changed("addresses") {
		n, ok := new(big.Int).SetString(f.addresses, 10)
		switch {
		case f.addresses == none:
			spec.Limits.Addresses = ""
		case !ok || n.Sign() < 0 || len(n.String()) > mostDigits:
			return spec, usagef("--addresses must be a number of addresses, or none, not %q", f.addresses)
		default:
			spec.Limits.Addresses = n.String()
		}
	}
	for _, l := range []struct {
		flag, text string
		limit      **int64
	}{{"claims", f.claims, &spec.Limits.Claims}, {"pools", f.pools, &spec.Limits.Pools}} {
		if !flags.Changed(l.flag) {
			continue
		}
		n, err := strconv.ParseInt(l.text, 10, 54) // as far as JSON's numbers are exact
		switch {
		case l.text == none:
			*l.limit = nil
		case err != nil || n < 0:
			return spec, usagef("--%s must be a number, or none, not %q", l.flag, l.text)
		default:
			*l.limit = &n
		}
	}
	if flags.Changed("description") {
		spec.Description = f.description
	}
	return f.scoped(spec)
}

// scoped is a spec with the scope that was given. A scope is written only where there is one: it never changes, and the
// server compares.
func (f *quotaFlags) scoped(spec client.QuotaSpec) (client.QuotaSpec, error) {
	if f.pool == "" && f.class == "" && f.family == "" {
		return spec, nil
	}
	scope := client.QuotaScope{}
	if spec.Scope != nil {
		scope = *spec.Scope
	}
	if f.pool != "" {
		ref, err := parseRef("for-pool", f.pool)
		if err != nil {
			return spec, err
		}
		scope.PoolRef = ref
	}
	if f.class != "" {
		ref, err := parseRef("for-class", f.class)
		if err != nil {
			return spec, err
		}
		scope.ClassRef = ref
	}
	if f.family != "" {
		scope.IPFamily = client.IPFamily(f.family)
	}
	spec.Scope = &scope
	return spec, nil
}
