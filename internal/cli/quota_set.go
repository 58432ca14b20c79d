package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
)

// quotaFields are what a quota is to be. What is not given stays as it is.
func quotaFields() []field {
	whole := func(flag string, _ bool) value {
		return &plain{read: func(text string) (any, error) { return wholeOrNone(flag, text) }}
	}
	return []field{
		description(),
		{flag: "addresses", path: "spec.limits.addresses", value: readBy(addressesOrNone), usage: "most addresses, `N` or none"},
		{flag: "claims", path: "spec.limits.claims", value: whole, usage: "most claims, `N` or none"},
		{flag: "pools", path: "spec.limits.pools", value: whole, usage: "most pools, `N` or none"},
		{
			flag: "for-pool", path: "spec.scope.poolRef", value: refOf, complete: (*program).completePools,
			usage: "count only what is carved from this `POOL`, name or project/name",
		},
		{
			flag: "for-class", path: "spec.scope.classRef", value: refOf, complete: (*program).completeClasses,
			usage: "count only what this `CLASS` serves, name or project/name",
		},
		{flag: "family", path: "spec.scope.ipFamily", value: familyText, usage: "count only this address family: IPv4, IPv6"},
	}
}

// addressesOrNone reads a count of the contract, which is a text.
func addressesOrNone(text string) (any, error) {
	const mostDigits = 39 // those of 2^128
	n, ok := new(big.Int).SetString(text, 10)
	switch {
	case text == none:
		return nil, nil //nolint:nilnil // null
	case !ok || n.Sign() < 0 || len(n.String()) > mostDigits:
		return nil, usagef("--addresses must be a number of addresses, or none, not %q", text)
	default:
		return n.String(), nil
	}
}

func wholeOrNone(flag, text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 54) // as far as JSON's numbers are exact
	switch {
	case text == none:
		return nil, nil //nolint:nilnil // null
	case err != nil || n < 0:
		return nil, usagef("--%s must be a number, or none, not %q", flag, text)
	default:
		return n, nil
	}
}

func quotaSet(k kind[client.Quota]) *cobra.Command {
	var w replacing
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
		ValidArgsFunction: k.complete(),
	}
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "ip-family": // as the contract calls it
			name = "family"
		case "class": // as everywhere else
			name = "for-class"
		}
		return pflag.NormalizedName(name)
	})
	fields := k.p.addFields(cmd, k.fields, true)
	w.add(cmd, "replace only")
	cmd.RunE = k.p.verb(func(ctx context.Context, args []string) error {
		wanted := map[string]any{}
		if err := fields.into(cmd, wanted); err != nil {
			return err // of the command line: nothing is sent
		}
		s, err := k.within()
		if err != nil {
			return err
		}
		return setQuota(ctx, k, s, args[0], w, wanted)
	})
	return cmd
}

// setQuota reads the quota, merges what was given into it, and replaces that very revision: what somebody else changed
// meanwhile is not lost but a conflict.
func setQuota(ctx context.Context, k kind[client.Quota], s *session, name string, w replacing, wanted map[string]any) error {
	var is struct {
		Spec json.RawMessage `json:"spec"`
	}
	is.Spec = json.RawMessage("{}")
	found, err := k.ask(ctx, s, name)
	switch {
	case exitCodeOf(err) == exitNotFound: // the quota, or the project: the put will tell
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(found.body, &is); err != nil {
			return fmt.Errorf("cannot read the server's answer: %w", err)
		}
		w.ifMatch = firstOf(w.ifMatch, found.header.Get("ETag"))
	}
	is2, err := marshal(is)
	if err != nil {
		return err
	}
	patch, err := marshal(wanted)
	if err != nil {
		return err
	}
	merged, err := jsonpatch.MergePatch(is2, patch)
	if err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	var put client.QuotaPut
	if err := json.Unmarshal(merged, &put); err != nil {
		return fmt.Errorf("cannot read the server's answer: %w", err)
	}
	if (put.Spec.Limits == client.QuotaLimits{}) {
		return usagef("a quota needs a limit: --addresses, --claims or --pools; 'ipamctl quota delete %s' takes it away", name)
	}
	a, err := k.put(ctx, s, name, w, put, "quota was set")
	if err != nil {
		return err
	}
	return one(s.program, k.view, a.body)
}
