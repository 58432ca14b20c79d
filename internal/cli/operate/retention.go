package operate

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// shortestRetention keeps a mistyped unit from emptying the trail; the server's flag has the same minimum.
const shortestRetention = time.Hour

// Retained is the number of records that a run of retention deleted.
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
		Short: "Delete old records of the audit trail, and what deleted projects left behind",
		Long: `Deletes what deleted projects left behind in the audit trail and in the history, the records of the audit trail that are older than
--audit-retention, and the holds of addresses that ended longer than --history-retention ago, in all regions.

A server does this by itself when its database user may, as that of the embedded database. A server whose user has the server's role may
not delete a record: run this once a day, say, as the user that 'ipamctl migrate --retention-user' named. It works in small transactions, may run while
servers work and from several places at once, and may be cut off: the next run does the rest.`,
		Example: `  ipamctl retention --database-url postgresql://carve_cron@db.example.com:26257/carve --audit-retention 2160h
  ipamctl retention --database-url-file /etc/carve/retention-url`,
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			if p.Output == show.FormatName {
				return exit.Usagef("what was deleted has no names: use -o table, json or yaml")
			}
			for flag, keep := range map[string]time.Duration{"audit-retention": events, "history-retention": holds} {
				if keep != 0 && keep < shortestRetention {
					return exit.Usagef("--%s %s is neither 0 (for ever) nor at least %s", flag, keep, shortestRetention)
				}
			}
			if p.Retain == nil {
				return errors.New("this build cannot delete records")
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
	cmd.Flags().DurationVar(&events, "audit-retention", 90*24*time.Hour, "how long records of the audit trail are kept; 0 is for ever")
	cmd.Flags().DurationVar(&holds, "history-retention", 365*24*time.Hour, "how long it is kept who held an address, from the end of the hold; 0 is for ever")
	return cmd
}

func (p *Operator) showRetained(done Retained) error {
	if p.Structured() {
		return p.DocumentOf(done)
	}
	p.Remark("deleted: %s of the audit trail, %s, %s of deleted projects", show.CountOf(int(done.Events), "old record"), show.CountOf(int(done.Holds), "old hold"), show.CountOf(int(done.Purged), "row"))
	return nil
}
