package transfer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
)

func switchCommand(p *session.Program) *cobra.Command {
	m := &mirror{input: input{p: p}}
	cmd := &cobra.Command{
		Use:   "switch SOURCE [FILE...] --pool POOL",
		Short: "Let Carve lead in a pool, after a last mirror without differences",
		Long: `Mirrors a last time and reads both sides again. If they do not differ in the pool, Carve leads in it and in all pools below it. From then
on the mirror neither creates nor releases anything there, and only shows changes of the other system. Stop the changes in the other
system before you switch. --back lets the other system lead again.`,
		Example: "  ipamctl shadow switch netbox --url https://netbox.example.com --pool prod\n" +
			"  ipamctl shadow switch netbox --url https://netbox.example.com --pool prod --back",
		Args: cobra.MinimumNArgs(1), ValidArgs: mirrored(),
	}
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) error {
		if len(m.pools) == 0 {
			return exit.Usagef("no pool is given: use --pool; 'ipamctl shadow status' shows the pools")
		}
		switch err := m.begin(args); {
		case err != nil:
			return err
		case m.back:
			return m.switchBack(ctx)
		default:
			return m.switchOver(ctx)
		}
	})
	m.common(cmd)
	cmd.Flags().StringArrayVar(&m.pools, "pool", nil, "`POOL` in which Carve takes the lead (repeatable)")
	cmd.Flags().BoolVar(&m.back, "back", false, "let the other system lead again, without reading the source")
	return cmd
}

// switchOver lets Carve lead in pools whose content is the same on both sides.
func (m *mirror) switchOver(ctx context.Context) error {
	if _, err := m.pass(ctx); err != nil {
		return err
	}
	m.dry = true
	v, err := m.pass(ctx)
	if err != nil {
		return err
	}
	if err := m.note(ctx, v.account(m)); err != nil {
		return err
	}
	for _, name := range m.pools {
		pool, found := m.states[m.Project].Pools[name]
		switch {
		case !found:
			return exit.Endf(exit.NotFound, "there is no pool %s in project %s", name, m.Project)
		case pool.Metadata.Labels[shadowLabel] != m.name:
			return exit.Endf(exit.Conflict, "pool %s does not belong to the mirror %s: 'ipamctl shadow mirror --adopt' takes over imported objects", name, m.name)
		case pool.Metadata.Annotations[shadowSwitched] != "":
			m.p.Remark("Carve leads in pool %s since %s", name, pool.Metadata.Annotations[shadowSwitched])
			continue
		}
		if out := v.within(m, name); len(out.more) > 0 {
			if err := m.printReport(out); err != nil {
				return err
			}
			m.p.Note("pool %s is not switched: the two sides differ in it", name)
			return exit.Verdict(exit.Conflict)
		}
		since, err := m.lead(ctx, pool)
		if err != nil {
			return exit.About("pool "+name, err)
		}
		if err := m.p.Lines([]string{fmt.Sprintf("Carve leads in pool %s (%s) since %s", name, pool.Status.AllocatedCIDR, since)}); err != nil {
			return err
		}
	}
	return nil
}

// within returns the differences that concern a pool. It includes rows that cannot be read, because they may concern the pool.
func (v *view) within(m *mirror, name string) *shadowReport {
	out := v.account(m)
	pool := v.states[m.Project]
	var at *item
	for _, e := range slices.Concat(v.made, pool.items) {
		if e.isPool() && e.project() == m.Project && e.name == name {
			at = e
		}
	}
	touches := func(i *item) bool { return at != nil && i.domain == at.domain && i.overlaps(at) }
	led := map[*item]bool{} // items that need no decision, because Carve leads
	for _, i := range v.aside {
		led[i] = true
	}
	var left []reportRow
	for n, r := range v.rows {
		inside := v.records.At(n).Problem != ""
		for _, i := range r.items() {
			inside = inside || touches(i) && !led[i]
		}
		if line := out.line(n); inside && line.Difference != "" {
			left = append(left, line)
		}
	}
	out.of, out.more, out.Here = nil, left, map[string]int{}
	for outcome, list := range map[string][]*item{outcomeRelease: v.releases, outcomeHeldBack: v.keeps, outcomeOnlyHere: v.lone} {
		for _, e := range list {
			if touches(e) && !v.leads(e) && (outcome != outcomeHeldBack || e.why != "") {
				out.here("", e, outcome)
			}
		}
	}
	return out
}

// lead stores that Carve leads in a pool. The request requires the revision that was compared. The time comes from the server, because the pool's
// history uses the server's time.
func (m *mirror) lead(ctx context.Context, pool client.IPPool) (string, error) {
	since := m.Clock().UTC().Format(time.RFC3339Nano)
	for _, query := range []session.Query{{"dryRun=true"}, nil} {
		is, err := m.annotatePool(ctx, pool, query, since)
		if err != nil {
			return "", err
		}
		if query != nil {
			since = is.Metadata.UpdatedAt.UTC().Format(time.RFC3339Nano)
		}
	}
	return since, nil
}

// annotatePool sets the time since which Carve leads in a pool, only at the revision that was compared. It returns the changed pool.
func (m *mirror) annotatePool(ctx context.Context, pool client.IPPool, query session.Query, since any) (client.IPPool, error) {
	return session.Into[client.IPPool](m.annotate(ctx, m.In("pools", pool.Metadata.Name), query, `"`+pool.Metadata.Revision+`"`, shadowSwitched, since))
}

// switchBack lets the other system lead again.
func (m *mirror) switchBack(ctx context.Context) error {
	for _, name := range m.pools {
		pool, err := session.Into[client.IPPool](m.Ask(ctx, session.Get(m.In("pools", name)...)))
		if err != nil {
			return exit.About("pool "+name, err)
		}
		if pool.Metadata.Annotations[shadowSwitched] == "" {
			return exit.Endf(exit.Conflict, "Carve does not lead in pool %s: it was not switched", name)
		}
		if _, err := m.annotatePool(ctx, pool, nil, nil); err != nil {
			return exit.About("pool "+name, err)
		}
		if err := m.p.Lines([]string{m.of + " leads in pool " + name + " again"}); err != nil {
			return err
		}
	}
	return nil
}
