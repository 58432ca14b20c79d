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
		Long: `Takes one block and answers with it: the claim is bound in the answer, or it does not exist.

It is taken from the pools behind a class (--class), or without any of these flags behind the default class of the family.
The others are for who must: one pool and no other (--pool), the first pool in order of name that has the labels and the room
(--selector, deprecated in favour of classes), or the block that a retained allocation keeps (--allocation). With -q the CIDR
alone is printed.`,
		Example: claimExample,
	}, verbs.Creation{Check: checkClaim})
}

func claimPut(k verbs.Kind[client.IPClaim]) *cobra.Command {
	var w verbs.Replacing
	cmd := &cobra.Command{
		Use:   "put NAME [--class CLASS | --pool POOL | --selector LABELS | --allocation UUID]",
		Short: "Claim a block, or get the one that was claimed under this name before",
		Long: `Creates the claim, or answers with the one that has this name and the same spec, whether or not its pool is full by now.
A claim with another spec is a conflict (exit code 4) that names what differs. Labels and annotations count at creation
alone: where those that are given differ from what is there, a warning says so, and 'ipamctl claim set' changes them. This
is the verb for scripts that run again.`,
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
			s.Remark("claim %s was there already, with the same spec", args[0])
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
		s.Note("warning: claim %s keeps what it has: %s; 'ipamctl claim set %s' changes it", name, d, name)
	}
	return nil
}
