package kinds

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

const claimExample = `  ipamctl claim create web --pool prod-eu --prefix-length 24
  ipamctl claim create --generate-name node- --class standard -q
  ipamctl claim create web-eu --class clusters --scope cluster=web-eu
  ipamctl claim create vip --pool prod-eu --address 10.20.0.17 --reclaim-policy Retain --owner Ingress/web
  ipamctl claim create web-1 --consumer vm-7c1f --consumer-ttl 2m --when-unused Delete`

func claimCreate(k verbs.Kind[client.IPClaim]) *cobra.Command {
	return k.CreateVerb(&cobra.Command{
		Use:   "create [NAME] [--class CLASS | --pool POOL | --selector LABELS | --allocation UUID]",
		Short: "Claim a block or an address",
		Long: `Creates a claim for one block and prints the block. The claim is bound at once, or it does not exist.

The block comes from the pools behind a class (--class), or by default behind the default class of the family. Other sources:
one given pool (--pool); the first pool by name with the labels and enough space (--selector; deprecated, use classes); the
block of a retained allocation (--allocation). -q prints only the CIDR.`,
		Example: claimExample,
	}, verbs.Creation{Check: checkClaim})
}

func claimPut(k verbs.Kind[client.IPClaim]) *cobra.Command {
	var w verbs.Replacing
	cmd := &cobra.Command{
		Use:   "put NAME [--class CLASS | --pool POOL | --selector LABELS | --allocation UUID]",
		Short: "Claim a block, or get the existing claim of this name",
		Long: `Creates the claim, or returns the existing claim if it has this name and the same spec, even if its pool is full now. A claim with
another spec is a conflict (exit code 4), and the error names the differences. Labels and annotations apply to a new claim only: if
an existing claim has others, ipamctl prints a warning; 'ipamctl claim set' changes them. Use this verb in scripts that run
repeatedly.`,
		Example:           "  cidr=$(ipamctl claim put web --class standard --prefix-length 24 -q)",
		Args:              verbs.Names("claim", 1, 1),
		ValidArgsFunction: k.Complete(),
	}
	fields := verbs.AddFields(k.P, cmd, k.Fields, false)
	verbs.AddDryRun(&w.Writing, cmd)
	cmd.RunE = k.P.Verb(func(ctx context.Context, args []string) error {
		doc := map[string]any{"spec": map[string]any{}}
		if err := checkClaim(cmd); err != nil {
			return err
		}
		if err := fields.Into(cmd, doc); err != nil {
			return err
		}
		s, err := k.Within()
		if err != nil {
			return err
		}
		a, err := k.Put(ctx, s, args[0], w, doc, "")
		if err != nil {
			return err
		}
		if a.Status == http.StatusOK {
			s.Remark("claim %s exists already, with the same spec", args[0])
			if err := warnOfOldPairs(s, a.Body, doc); err != nil {
				return err
			}
		}
		return show.One(k.P.Printer, k.View, a.Body)
	})
	return cmd
}

// warnOfOldPairs warns about labels and annotations of a put that the existing claim does not have. --quiet does not silence the warning, because
// scripts find claims by labels.
func warnOfOldPairs(s *session.Session, doc json.RawMessage, given map[string]any) error {
	got, err := show.Decode[client.IPClaim]([]json.RawMessage{doc})
	if err != nil {
		return err
	}
	pairs := func(name string) map[string]string {
		metadata, _ := given["metadata"].(map[string]any)
		is, _ := metadata[name].(map[string]string)
		return is
	}
	var d verbs.Differences
	d.Pairs("label", pairs("labels"), got[0].Metadata.Labels)
	d.Pairs("annotation", pairs("annotations"), got[0].Metadata.Annotations)
	if name := got[0].Metadata.Name; len(d) > 0 {
		s.Note("warning: claim %s is unchanged: %s; 'ipamctl claim set %s' changes it", name, d, name)
	}
	return nil
}
