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
		Short: "Prepare and audit a database that other tools than 'ipamctl restore' restored",
		Long: `Use it when a database returned to an earlier state: after a point-in-time recovery, from a snapshot of a disk, or after a failover to a
replica that lacked changes. It gives every pool in every region a new epoch, which invalidates all data that servers read before, and
audits the database. 'ipamctl restore' does both by itself. Stop every server of the database first. With --data-dir no server may run;
the command starts the embedded database and stops it at the end.

It lists the valid API keys, members, grants and quotas, the newest first. Rights that were revoked after that state are valid again.

The database lacks all later changes. Addresses that were allocated later count as free, and servers would allocate them again: read
docs/runbooks/restore.md before you start servers.

Exit code 0: the audit is clean. 1: there are findings, and it printed them. 4: refused, and nothing changed.`,
		Example: `  ipamctl restored --database-url postgresql://carve@db.example.com/carve
  ipamctl restored --data-dir ./data`,
		RunE: p.verb("findings have no names", func(ctx context.Context) error {
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

// renewed makes all data invalid that servers read before a restore. It then audits the database.
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
		p.Note("fenced off, because its two epochs differ: pool %s; see 'ipamctl region reconcile'", where)
	}
	if n := len(report.Findings); n > 0 || len(epochs.Fenced) > 0 {
		p.Note("restored with problems: %s, %s fenced off", show.CountOf(n, "finding"), show.CountOf(len(epochs.Fenced), "pool"))
		return exit.Verdict(exit.Failed)
	}
	return nil
}
