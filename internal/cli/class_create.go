package cli

import (
	"context"
	"net/http"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// classFlags are what a new class is made of.
type classFlags struct {
	creating
	classPolicy
	family     family
	per        []string
	poolLength length
	parameters map[string]string
}

func (p *program) classCreate() *cobra.Command {
	var f classFlags
	cmd := &cobra.Command{
		Use:   "create NAME --family FAMILY",
		Short: "Make a class: how blocks of a family are handed out to who names it",
		Long: `Makes a policy for handing out blocks: which lengths, how they are placed, which pools are tried, what becomes of a block when
its claim is deleted. It serves nobody before a pool lists it ('ipamctl pool create --class', 'ipamctl pool set --class').

With --default it also serves claims that name nothing. With --pool-per claims do not draw from the pools that list it: each
project, and in it each combination of the other roles (--scope of a claim), has a pool of --pool-prefix-length of its own, which the
first claim carves.`,
		Example: `  ipamctl class create standard --family ipv4 --default-prefix-length 28 --min-prefix-length 24 --default
  ipamctl class create clusters --family ipv4 --pool-per project,cluster --pool-prefix-length 20 --default-prefix-length 26
  ipamctl class create slow --family 6 --reuse-after 3d --pool-selection LeastUtilized`,
		Args:              names("class", 0, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = p.verb(func(ctx context.Context, args []string) error {
		meta, err := f.metadata("class", args)
		if err != nil {
			return err
		}
		move, err := f.moving()
		if err != nil {
			return err
		}
		spec, err := f.whole(cmd)
		if err != nil {
			return err
		}
		s, err := p.inProject()
		if err != nil {
			return err
		}
		a, err := s.createClass(ctx, f.writing, move, client.IPClassCreate{Metadata: meta, Spec: spec})
		if err != nil {
			return err
		}
		return one(p, classView(), a.body)
	})
	f.creating.add(cmd)
	f.classPolicy.add(cmd, false)
	flags := cmd.Flags()
	flags.Var(&f.family, "family", "address family of the blocks: IPv4, IPv6")
	flags.StringSliceVar(&f.per, "pool-per", nil, "`ROLES` that have a pool of their own: project, or project and others, as in project,cluster")
	flags.Var(&f.poolLength, "pool-prefix-length", "with --pool-per: length of each such pool")
	pairs(flags, &f.parameters, "parameter", "text for the provisioner and for people")
	return cmd
}

// roleRE is what the contract calls a role.
var roleRE = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// whole is the spec, judged in terms of flags.
func (f *classFlags) whole(cmd *cobra.Command) (client.IPClassSpec, error) {
	s := f.spec(cmd)
	s.IPFamily, s.PoolPer, s.PoolPrefixLength, s.Parameters = client.IPFamily(f.family), f.per, f.poolLength.bits, f.parameters
	switch {
	case f.family == "":
		return s, usagef("of which family? Give --family")
	case len(f.per) == 0 && f.poolLength.bits != nil:
		return s, usagef("--pool-prefix-length needs --pool-per: it is the length of the pools that are carved for scopes")
	case len(f.per) == 0 && f.emptyTTL.text != "":
		return s, usagef("--empty-pool-ttl needs --pool-per: it is about the pools that are carved for scopes")
	case len(f.per) > 0 && f.per[0] != "project":
		return s, usagef("--pool-per begins with project: no two projects share such a pool")
	case len(f.per) > 0 && f.poolLength.bits == nil:
		return s, usagef("--pool-per needs --pool-prefix-length: how large is each of these pools?")
	}
	for i, role := range f.per {
		if !roleRE.MatchString(role) || slices.Contains(f.per[:i], role) {
			return s, usagef("--pool-per: %q is not a role, or it is there twice", role)
		}
	}
	return s, nil
}

func (s *session) createClass(ctx context.Context, w writing, move *client.MoveDefault, body client.IPClassCreate) (answer, error) {
	return s.post(ctx, w, func(ctx context.Context, dry *client.DryRun, key *client.IdempotencyKey) (*http.Response, error) {
		return s.api.CreateClass(ctx, s.project, &client.CreateClassParams{MoveDefault: move, DryRun: dry, IdempotencyKey: key}, body)
	})
}
