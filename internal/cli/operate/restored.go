package operate

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

func (p *Operator) restoredCommand() *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "restored",
		Short: "Say that the database was restored by other means than 'ipamctl restore', and audit it",
		Long: `For a database that is of an earlier time than it was: after a point-in-time recovery, a snapshot of a disk, or a failover to a replica that lacked
something. It gives every pool in every region a new epoch, so that nothing that was read before counts, and audits the database. 'ipamctl restore' does both
by itself. Stop every server of the database first; with --data-dir no server runs, and the embedded database is started for as long as this takes.

It lists the API keys, members, grants and quotas that are valid, the newest first: what was revoked since the time that the database is of is valid again.

What was done after the time that the database is of is not there. Addresses that were given out since then count as free, and would be given out again:
see docs/runbooks/restore.md before servers are started.

Exit code 0: the audit is clean. 1: something is wrong, which is printed. 4: refused, and nothing was changed.`,
		Example: `  ipamctl restored --database-url postgresql://carve@db.example.com/carve
  ipamctl restored --data-dir ./data`,
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			if p.Output == show.FormatName {
				return exit.Usagef("findings have no names: use -o table, json or yaml")
			}
			nothing := func() error { return nil }
			return p.withIdleDatabase(ctx, t, nothing, func(dsn string) error {
				if err := p.Idle(ctx, dsn); errors.Is(err, backup.ErrInUse) {
					return databaseError{err, exit.Conflict}
				} else if err != nil {
					return offline(err)
				}
				if err := p.CheckSchema(ctx, dsn); err != nil {
					return offline(err)
				}
				if err := p.rights(ctx, dsn, nil); err != nil {
					return err
				}
				return p.renewed(ctx, dsn)
			})
		}),
	}
	t.add(cmd)
	return cmd
}

// renewed invalidates everything that servers read before a restore, and audits the database.
func (p *Operator) renewed(ctx context.Context, dsn string) error {
	epochs, err := p.RenewEpochs(ctx, dsn)
	if err != nil {
		return offline(err)
	}
	p.Remark("new epochs: %d", epochs.Renewed)
	defer p.Waiting("checking the database")()
	report, err := p.Audit(ctx, dsn)
	if err != nil {
		return databaseError{err, exit.Unavailable}
	}
	if err := p.showReport(report); err != nil {
		return err
	}
	for _, where := range epochs.Fenced {
		p.Note("fenced off, because its two epochs differ: pool %s; see `ipamctl region reconcile`", where)
	}
	if n := len(report.Findings); n > 0 || len(epochs.Fenced) > 0 {
		p.Note("restored, and not in order: %s, %s fenced off", show.CountOf(n, "finding"), show.CountOf(len(epochs.Fenced), "pool"))
		return exit.Verdict(exit.Failed)
	}
	return nil
}
