package operate

import (
	"context"
	"fmt"
	"time"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/crdb"
)

// listedRights limits the rights that a restore lists if it cannot compare them with a replaced database's rights.
const listedRights = 50

// replaced reads the rights in the database that a restore is going to drop. If it cannot read them, it refuses the restore. Otherwise the restore
// could make revoked keys valid again without notice.
func (p *Operator) replaced(ctx context.Context, dsn string, f restoreFlags) ([]crdb.Right, error) {
	if !f.replace || !f.keepRevocations {
		return nil, nil
	}
	rights, err := p.Rights(ctx, dsn)
	if err != nil {
		return nil, databaseError{fmt.Errorf("cannot read the keys, members, grants and quotas of the old database: %w. "+
			"Nothing was changed; --keep-revocations=false restores without a comparison", err), exit.Conflict}
	}
	return rights, nil
}

// rights reports the keys, members, grants and quotas that a restore has made valid again. If a right was revoked in the replaced database, it
// revokes that right again.
func (p *Operator) rights(ctx context.Context, dsn string, was []crdb.Right) error {
	now, err := p.Rights(ctx, dsn)
	if err != nil {
		return offline(err)
	}
	if len(was) == 0 {
		p.listRights(now)
		return nil
	}
	revived := crdb.Compare(was, now)
	if err := p.EndRights(ctx, dsn, revived); err != nil {
		return offline(err)
	}
	differ := false
	for _, change := range []struct {
		what   string
		rights []crdb.Right
	}{
		{"revoked since the backup, and revoked again", revived.Revoked},
		{"role lowered since the backup, and lowered again", revived.Lowered},
		{"valid again, because its project is back", revived.OfProjects},
		{"limits are those of the backup again", revived.Quotas},
		{"set since the backup, missing now", revived.Unset},
	} {
		for _, r := range change.rights {
			differ = true
			p.Note("%s: %s", change.what, described(r))
		}
	}
	if !differ {
		p.Remark("keys, members, grants and quotas: no difference from the replaced database")
	}
	return nil
}

// listRights lists the newest rights in the database. It is for a restore without a replaced database.
func (p *Operator) listRights(all []crdb.Right) {
	var rights []crdb.Right
	counts := map[string]int{}
	for _, r := range all {
		if counts[r.Kind]++; r.Kind == crdb.RightKey || r.Kind == crdb.RightMember || r.Kind == crdb.RightGrant || r.Kind == crdb.RightQuota {
			rights = append(rights, r)
		}
	}
	p.Remark("valid as in the backup: %s, %s, %s, %s. Rights that were revoked since then are valid again: compare this list, newest first, with your records", show.CountOf(counts[crdb.RightKey], "API key"),
		show.CountOf(counts[crdb.RightMember], "member"), show.CountOf(counts[crdb.RightGrant], "grant"), show.CountOf(counts[crdb.RightQuota], "quota"))
	for _, r := range rights[:min(len(rights), listedRights)] {
		p.Remark("  %s  %s", r.Since.UTC().Format(time.RFC3339), described(r))
	}
	if more := len(rights) - listedRights; more > 0 {
		p.Remark("  and %d older ones", more)
	}
}

func described(r crdb.Right) string {
	if r.Kind == crdb.RightGrant {
		return fmt.Sprintf("grant of %s in %s to %s", r.Detail, r.Project, r.Name)
	}
	return fmt.Sprintf("%s %s/%s (%s)", r.Kind, r.Project, r.Name, r.Detail)
}
