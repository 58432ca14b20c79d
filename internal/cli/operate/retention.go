package operate

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// shortestRetention is the minimum duration, so that a mistyped unit does not delete the whole audit trail. The server's flag has the same minimum.
const shortestRetention = time.Hour

// Retained counts the records that retention deleted.
type Retained struct {
	Events int64 `json:"auditEvents"`
	Holds  int64 `json:"holds"`
	Purged int64 `json:"ofDeletedProjects"`
}

func (p *Operator) retentionCommand() *cobra.Command {
	var t target
	var events, holds time.Duration
	cmd := &cobra.Command{
		Use:   "retention",
		Short: "Delete old audit records and history, and remains of deleted projects",
		Long: `Deletes these rows in all regions: remains of deleted projects in the audit trail and in the history; audit records that are older
than --audit-retention; holds of addresses that ended longer ago than --history-retention.

A server deletes them by itself if its database user has the privilege, as with the embedded database. A user with the server's role may
not delete audit records: then run this command, for instance once a day, as the user of 'ipamctl migrate --retention-user'. It works in
small transactions, while servers work and from several machines at once. After an interruption, the next run continues.`,
		Example: `  ipamctl retention --database-url postgresql://carve_cron@db.example.com:26257/carve --audit-retention 2160h
  ipamctl retention --database-url-file /etc/carve/retention-url`,
		RunE: p.verb("deleted rows have no names", func(ctx context.Context) error {
			for flag, keep := range map[string]time.Duration{"audit-retention": events, "history-retention": holds} {
				if keep != 0 && keep < shortestRetention {
					return exit.Usagef("--%s %s is too short: use 0 (no limit) or at least %s", flag, keep, shortestRetention)
				}
			}
			dsn, err := p.dsn(t)
			if err != nil {
				return err
			}
			defer p.Waiting("deleting old records")()
			done, err := p.Retain(ctx, dsn, events, holds)
			if err != nil {
				return offline(err)
			}
			return p.showRetained(done)
		}),
	}
	t.add(cmd)
	cmd.Flags().DurationVar(&events, "audit-retention", 90*24*time.Hour, "time to keep audit records; 0 is for ever")
	cmd.Flags().DurationVar(&holds, "history-retention", 365*24*time.Hour, "time to keep the history of an address after the end of a hold; 0 is for ever")
	return cmd
}

func (p *Operator) showRetained(done Retained) error {
	if p.Structured() {
		return p.DocumentOf(done)
	}
	p.Remark("deleted: %s of the audit trail, %s, %s of deleted projects", show.CountOf(int(done.Events), "old record"), show.CountOf(int(done.Holds), "old hold"), show.CountOf(int(done.Purged), "row"))
	return nil
}
