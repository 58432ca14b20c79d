package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// poolFlags are what a new pool is made of.
type poolFlags struct {
	creating
	cidr, parent, space, strategy, visibility, description string
	bits, least, most, preset                              length
	reserve, classes                                       []string
	reuseAfter                                             policySpan
	region                                                 string
	regions                                                []string
}

func (p *program) poolCreate() *cobra.Command {
	var f poolFlags
	cmd := &cobra.Command{
		Use:   "create NAME (--cidr CIDR | --parent POOL (--prefix-length N | --cidr CIDR))",
		Short: "Carve a pool from a space or from another pool",
		Long: `Carves a pool: a root from a space, by its CIDR, or a child from another pool, by a length or by its CIDR.

A part of it can be withheld with --reserve, each with a reason behind '=':
  first:16               the first 16 addresses          last:1=broadcast
  10.0.0.0/28=gateways   a block                         10.0.0.5-10.0.0.9   a range, both ends included
  10.0.0.1               one address`,
		Example: `  ipamctl pool create corp --cidr 10.0.0.0/8
  ipamctl pool create prod-eu --parent corp --prefix-length 16 --reserve first:16='network devices'
  ipamctl pool create vpn --parent prod-eu --cidr 10.0.48.0/20 --default-prefix-length 26
  ipamctl pool create global --cidr 10.128.0.0/12 --regions eu,us
  ipamctl pool create nodes --parent prod-eu --prefix-length 20 --class standard --reuse-after 1d`,
		Args:              names("pool", 0, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			meta, err := f.metadata("pool", args)
			if err != nil {
				return err
			}
			spec, err := f.spec()
			if err != nil {
				return err
			}
			s, err := p.inProject()
			if err != nil {
				return err
			}
			a, err := s.createPool(ctx, f.writing, client.IPPoolCreate{Metadata: meta, Spec: spec})
			if err != nil {
				return err
			}
			return one(p, poolView(), a.body)
		}),
	}
	f.creating.add(cmd)
	f.add(cmd)
	completeFlag(cmd, "parent", p.completePools())
	completeFlag(cmd, "space", p.completeSpaces())
	completeFlag(cmd, "class", p.completeClasses())
	completeFlag(cmd, "region", p.completeRegions())
	completeFlag(cmd, "regions", p.completeRegions())
	return cmd
}

func (f *poolFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.cidr, "cidr", "", "the pool's block, a `CIDR`: of a root, or this very block of the parent")
	flags.StringVar(&f.parent, "parent", "", "`POOL` to carve from, name or project/name")
	flags.Var(&f.bits, "prefix-length", "a block of this length, chosen by the parent's strategy")
	flags.StringVar(&f.space, "space", "", "`SPACE` of a root, name or project/name (default: the project's 'default')")
	choiceFlag(cmd, &f.strategy, "strategy", "how places in the pool are chosen", client.AllocationStrategyBestFit,
		client.AllocationStrategyFirstFit, client.AllocationStrategyRandom, client.AllocationStrategySparse)
	flags.Var(&f.least, "min-prefix-length", "the largest block that may be carved from it")
	flags.Var(&f.most, "max-prefix-length", "the smallest block that may be carved from it")
	flags.Var(&f.preset, "default-prefix-length", "what a claim without a length gets")
	choiceFlag(cmd, &f.visibility, "visibility", "which projects may use it", client.PoolVisibilityConsumer,
		client.PoolVisibilityShared, client.PoolVisibilityPlatform)
	flags.StringVar(&f.description, "description", "", "`TEXT`: what it is for")
	flags.StringArrayVar(&f.classes, "class", nil, "back this `CLASS`: what is claimed by it can be carved from here (repeatable)")
	flags.Var(&f.reuseAfter, "reuse-after", "how long nobody gets a released block, unless a class says otherwise: 10m, 72h, 3d")
	flags.StringArrayVar(&f.reserve, "reserve", nil, "withhold a `PART`, see above (repeatable)")
	flags.StringVar(&f.region, "region", "", "`REGION` where it is at home (default: the first of --regions, or that of the server)")
	flags.StringSliceVar(&f.regions, "regions", nil, "`REGIONS` where it is served, its home among them: eu,us (default: at home alone)")
}

// spec reads the flags. What they mean together is judged here as well as by the server, to answer in terms of flags.
func (f *poolFlags) spec() (client.IPPoolSpec, error) {
	spec := client.IPPoolSpec{
		CIDR: f.cidr, PrefixLength: f.bits.bits, Visibility: client.PoolVisibility(f.visibility), Description: f.description,
		ReuseAfter: f.reuseAfter.text,
	}
	var err error
	switch {
	case f.parent == "" && f.cidr == "":
		return spec, usagef("a pool needs --cidr (a root), or --parent with --prefix-length or --cidr (a child)")
	case f.parent == "" && f.bits.bits != nil:
		return spec, usagef("--prefix-length needs --parent: a root is a --cidr")
	case f.parent != "" && f.space != "":
		return spec, usagef("--space is for roots: a child is in the space of its --parent")
	case f.parent != "" && (f.cidr == "") == (f.bits.bits == nil):
		return spec, usagef("a child needs either --prefix-length or --cidr")
	case f.parent != "":
		spec.ParentRef, err = parseRef("parent", f.parent)
	case f.space != "":
		spec.SpaceRef, err = parseRef("space", f.space)
	}
	if err != nil {
		return spec, err
	}
	if f.strategy != "" || f.least.bits != nil || f.most.bits != nil || f.preset.bits != nil {
		spec.Allocation = &client.PoolAllocation{
			Strategy:            client.AllocationStrategy(f.strategy),
			MinPrefixLength:     f.least.bits,
			MaxPrefixLength:     f.most.bits,
			DefaultPrefixLength: f.preset.bits,
		}
	}
	for _, name := range f.classes {
		if err := checkName("class", name); err != nil {
			return spec, err
		}
		spec.ClassNames = append(spec.ClassNames, name)
	}
	if spec.Reservations, err = parseReservations(f.reserve); err != nil {
		return spec, err
	}
	if f.region != "" {
		spec.Region = f.region
		if err := checkName("region", f.region); err != nil {
			return spec, err
		}
	}
	spec.Regions, err = regionNames(f.regions)
	return spec, err
}

func (s *session) createPool(ctx context.Context, w writing, body client.IPPoolCreate) (answer, error) {
	return s.post(ctx, w, func(ctx context.Context, dry *client.DryRun, key *client.IdempotencyKey) (*http.Response, error) {
		return s.api.CreatePool(ctx, s.project, &client.CreatePoolParams{DryRun: dry, IdempotencyKey: key}, body)
	})
}

// parseReservations reads the --reserve of a pool.
func parseReservations(parts []string) ([]client.Reservation, error) {
	var out []client.Reservation
	for _, text := range parts {
		r, err := parseReservation(text)
		if err != nil {
			return nil, usagef("--reserve %s: %v", text, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// parseReservation reads one --reserve.
func parseReservation(text string) (client.Reservation, error) {
	what, reason, _ := strings.Cut(text, "=")
	r := client.Reservation{Reason: reason}
	if edge, count, found := strings.Cut(what, ":"); found && (edge == "first" || edge == "last") {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return r, fmt.Errorf("%q is not a number of addresses", count)
		}
		if edge == "first" {
			r.First = n
		} else {
			r.Last = n
		}
		return r, nil
	}
	if strings.Contains(what, "/") {
		block, err := netip.ParsePrefix(what)
		if err != nil {
			return r, fmt.Errorf("%q is not a CIDR", what)
		}
		r.CIDR = block.String()
		return r, nil
	}
	from, to, isRange := strings.Cut(what, "-")
	if !isRange {
		to = from
	}
	for _, address := range []string{from, to} {
		if _, err := netip.ParseAddr(address); err != nil {
			return r, fmt.Errorf("%q is not an address; a part is first:N, last:N, a CIDR, an address or a range from-to", address)
		}
	}
	r.From, r.To = from, to
	return r, nil
}
