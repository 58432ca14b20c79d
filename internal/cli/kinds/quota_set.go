package kinds

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// quotaFields returns a quota's fields. If the user does not set a field, it stays unchanged.
func quotaFields() []verbs.Field {
	return []verbs.Field{
		verbs.Description,
		{Flag: "addresses", Path: "spec.limits.addresses", Value: count("a number of addresses", true), Usage: "maximum number of addresses, `N` or none"},
		{Flag: "claims", Path: "spec.limits.claims", Value: count("a number", false), Usage: "maximum number of claims, `N` or none"},
		{Flag: "pools", Path: "spec.limits.pools", Value: count("a number", false), Usage: "maximum number of pools, `N` or none"},
		{Flag: "for-pool", Path: "spec.scope.poolRef", Complete: verbs.CompletePools, Usage: "count only blocks carved from this `POOL`, name or project/name"},
		{Flag: "for-class", Path: "spec.scope.classRef", Complete: verbs.CompleteClasses, Usage: "count only claims of this `CLASS`, name or project/name"},
		{Flag: "family", Path: "spec.scope.ipFamily", Usage: "count only this address family: IPv4, IPv6"},
	}
}

// count makes a flag for a number, or none. The contract defines a large number as a text. JSON numbers are exact up to 53 bits.
func count(what string, large bool) verbs.Maker {
	const maxDigits = 39 // the digits of 2^128
	return func(flag string, _ bool) verbs.Value {
		return &verbs.Plain{Read: func(text string) (any, error) {
			n, ok := new(big.Int).SetString(text, 10)
			switch {
			case text == verbs.None:
				return nil, nil //nolint:nilnil // null
			case !ok || n.Sign() < 0 || len(n.String()) > maxDigits || !large && n.BitLen() > 53:
				return nil, exit.Usagef("--%s must be %s, or none, not %q", flag, what, text)
			case large:
				return n.String(), nil
			default:
				return n.Int64(), nil
			}
		}}
	}
}

func quotaSet(k verbs.Kind) *cobra.Command {
	var w verbs.Replacing
	cmd := k.Writing(verbs.Writer{
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
		Flags: func(cmd *cobra.Command) {
			verbs.Synonyms(cmd, map[string]string{"ip-family": "family", "class": "for-class"}) // the contract's name, and the name in other commands
		},
		Merge: true,
	}, k.Fields, func(ctx context.Context, r verbs.Resource, doc map[string]any, _ session.Query) error {
		err := setQuota(ctx, k, r, w, doc)
		if errors.Is(err, errMadeMeanwhile) { // another client has created the quota, so merge the fields into it
			err = setQuota(ctx, k, r, w, doc)
		}
		return err
	})
	w.Add(cmd, "replace only")
	return cmd
}

var errMadeMeanwhile = exit.Endf(exit.Conflict, "other callers created or deleted the quota at the same time: run it again")

// setQuota reads the quota, merges the given fields into it, and replaces the revision that it read. If another client changes the quota at the same
// time, the result is a conflict, and no change is lost.
func setQuota(ctx context.Context, k verbs.Kind, r verbs.Resource, w verbs.Replacing, wanted map[string]any) error {
	found, err := k.Ask(ctx, r.Session, r.Name)
	switch {
	case exit.CodeOf(err) == exit.NotFound: // the quota or the project does not exist; the put reports a missing project
		w.Create, found.Body = w.IfMatch == "", []byte(`{"spec":{}}`)
	case err != nil:
		return err
	default:
		w.IfMatch = show.FirstOf(w.IfMatch, found.Header.Get("ETag"))
	}
	put, err := merged(found.Body, wanted)
	if err != nil {
		return err
	}
	if (put.Spec.Limits == client.QuotaLimits{}) {
		return exit.Usagef("a quota needs a limit: --addresses, --claims or --pools; 'ipamctl quota delete %s' removes it", r.Name)
	}
	a, err := k.Put(ctx, r.Session, r.Name, w, put, "quota was set")
	if refusal, is := errors.AsType[*session.Refusal](err); is && w.Create && refusal.Status == http.StatusPreconditionFailed {
		return errMadeMeanwhile
	}
	return k.Shown(a, err)
}

// merged merges the given fields into a quota's document.
func merged(quota []byte, wanted map[string]any) (put client.QuotaPut, err error) {
	patch, err := show.Marshal(wanted)
	if err != nil {
		return put, err
	}
	doc, err := jsonpatch.MergePatch(quota, patch)
	if err != nil {
		return put, fmt.Errorf("cannot read the server's response: %w", err)
	}
	return show.Read[client.QuotaPut](doc)
}
