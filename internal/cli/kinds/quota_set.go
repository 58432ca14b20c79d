package kinds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strconv"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// quotaFields returns the fields of a quota. If the user does not set a field, it stays unchanged.
func quotaFields() []verbs.Field {
	whole := func(flag string, _ bool) verbs.Value {
		return &verbs.Plain{Read: func(text string) (any, error) { return wholeOrNone(flag, text) }}
	}
	return []verbs.Field{
		verbs.Description(),
		{Flag: "addresses", Path: "spec.limits.addresses", Value: verbs.ReadBy(addressesOrNone), Usage: "maximum number of addresses, `N` or none"},
		{Flag: "claims", Path: "spec.limits.claims", Value: whole, Usage: "maximum number of claims, `N` or none"},
		{Flag: "pools", Path: "spec.limits.pools", Value: whole, Usage: "maximum number of pools, `N` or none"},
		{
			Flag: "for-pool", Path: "spec.scope.poolRef", Value: verbs.RefOf, Complete: verbs.CompletePools,
			Usage: "count only blocks carved from this `POOL`, name or project/name",
		},
		{
			Flag: "for-class", Path: "spec.scope.classRef", Value: verbs.RefOf, Complete: verbs.CompleteClasses,
			Usage: "count only claims of this `CLASS`, name or project/name",
		},
		{Flag: "family", Path: "spec.scope.ipFamily", Value: verbs.FamilyText, Usage: "count only this address family: IPv4, IPv6"},
	}
}

// addressesOrNone parses a number of addresses. The contract defines this number as a text, because it can be very large.
func addressesOrNone(text string) (any, error) {
	const mostDigits = 39 // the digits of 2^128
	n, ok := new(big.Int).SetString(text, 10)
	switch {
	case text == verbs.None:
		return nil, nil //nolint:nilnil // null
	case !ok || n.Sign() < 0 || len(n.String()) > mostDigits:
		return nil, exit.Usagef("--addresses must be a number of addresses, or none, not %q", text)
	default:
		return n.String(), nil
	}
}

func wholeOrNone(flag, text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 54) // JSON numbers are exact up to this size
	switch {
	case text == verbs.None:
		return nil, nil //nolint:nilnil // null
	case err != nil || n < 0:
		return nil, exit.Usagef("--%s must be a number, or none, not %q", flag, text)
	default:
		return n, nil
	}
}

func quotaSet(k verbs.Kind[client.Quota]) *cobra.Command {
	var w verbs.Replacing
	cmd := &cobra.Command{
		Use:   "set NAME [--addresses N] [--claims N] [--pools N] [--for-pool POOL] [--for-class CLASS] [--family FAMILY]",
		Short: "Create a quota, or change its given fields",
		Long: `Limits the project's claims, pools, and addresses in blocks of claims. Fields that are not given stay as they are; 'none' removes
a limit. A limit below the current usage releases nothing; the server refuses new claims or pools until the usage is below it.

A new quota counts everything. --for-pool counts only blocks from that pool (name, or project/name for another project),
--for-class only claims of that class (platform/name for a class of the platform), and --family only that address family.
These three never change.`,
		Example: `  ipamctl quota set all --addresses 65536 --claims 1000 --pools 10
  ipamctl quota set shared-eu --for-pool platform/shared-eu --addresses 4096
  ipamctl quota set gold --for-class platform/gold --claims 20
  ipamctl quota set all --pools none`,
		Args:              verbs.Names("quota", 1, 1),
		ValidArgsFunction: k.Complete(),
	}
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "ip-family": // the contract's name
			name = "family"
		case "class": // the name in other commands
			name = "for-class"
		}
		return pflag.NormalizedName(name)
	})
	fields := verbs.AddFields(k.P, cmd, k.Fields, true)
	w.Add(cmd, "replace only")
	cmd.RunE = k.P.Verb(func(ctx context.Context, args []string) error {
		wanted := map[string]any{}
		if err := fields.Into(cmd, wanted); err != nil {
			return err // an error in the command line, so nothing is sent
		}
		s, err := k.Within()
		if err != nil {
			return err
		}
		err = setQuota(ctx, k, s, args[0], w, wanted)
		if errors.Is(err, errMadeMeanwhile) { // another client has created the quota, so merge the fields into it
			err = setQuota(ctx, k, s, args[0], w, wanted)
		}
		return err
	})
	return cmd
}

var errMadeMeanwhile = exit.Endf(exit.Conflict, "other callers created or deleted the quota at the same time: run it again")

// setQuota reads the quota, merges the given fields into it, and replaces the revision that it read. If another client changes the quota at the same
// time, the result is a conflict, and no change is lost.
func setQuota(ctx context.Context, k verbs.Kind[client.Quota], s *session.Session, name string, w verbs.Replacing, wanted map[string]any) error {
	var is struct {
		Spec json.RawMessage `json:"spec"`
	}
	is.Spec = json.RawMessage("{}")
	found, err := k.Ask(ctx, s, name)
	switch {
	case exit.CodeOf(err) == exit.NotFound: // the quota or the project does not exist; the put reports a missing project
		w.Create = w.IfMatch == ""
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(found.Body, &is); err != nil {
			return fmt.Errorf("cannot read the server's response: %w", err)
		}
		w.IfMatch = show.FirstOf(w.IfMatch, found.Header.Get("ETag"))
	}
	is2, err := show.Marshal(is)
	if err != nil {
		return err
	}
	patch, err := show.Marshal(wanted)
	if err != nil {
		return err
	}
	merged, err := jsonpatch.MergePatch(is2, patch)
	if err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	var put client.QuotaPut
	if err := json.Unmarshal(merged, &put); err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	if (put.Spec.Limits == client.QuotaLimits{}) {
		return exit.Usagef("a quota needs a limit: --addresses, --claims or --pools; 'ipamctl quota delete %s' removes it", name)
	}
	a, err := k.Put(ctx, s, name, w, put, "quota was set")
	if refusal, is := errors.AsType[*session.Refusal](err); is && w.Create && refusal.Status == http.StatusPreconditionFailed {
		return errMadeMeanwhile
	}
	if err != nil {
		return err
	}
	return show.One(s.Printer, k.View, a.Body)
}
