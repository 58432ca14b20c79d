package crdb_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/ipam"
)

// violations returns the errors of a run. Each begins with its kind:
//
//	answer    a request got an unexpected error
//	audit     the stored data are inconsistent: free and held blocks do not cover the pool exactly
//	doubled   a name holds more than one block
//	unknown   a claim exists that no worker requested
//	told      the result that a worker got differs from the stored claim
//	repeat    a retry of a request with an unknown outcome fails, or returns another block than the stored one
//	unusable  the pool cannot be emptied and then allocated as a whole
//	attempts  a transaction exceeded its number of attempts
func (l *ledger) violations(t *testing.T, direct *house) []string {
	t.Helper()
	ctx := admin(t)
	out := slices.Clone(l.wrong)
	report, err := audit.Run(ctx, direct.dsn)
	require.NoError(t, err)
	for _, f := range report.Findings {
		out = append(out, fmt.Sprintf("audit: %s: %s", f.Invariant, f.Detail))
	}
	out = append(out, l.doubled(t, direct.dsn)...)
	stored := allClaims(ctx, t, direct.svc)
	for name := range stored {
		if l.entries[name] == nil {
			out = append(out, "unknown: "+name)
		}
	}
	for name, e := range l.entries {
		out = append(out, e.compare(ctx, name, stored, direct.svc)...)
	}
	out = append(out, l.attempts()...)
	return append(out, unusable(ctx, t, direct.svc)...)
}

func (l *ledger) doubled(t *testing.T, dsn string) []string {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer c.Close(context.Background())
	rows, err := c.Query(t.Context(), "SELECT 'doubled: ' || name FROM holds WHERE name IS NOT NULL GROUP BY name HAVING count(*) > 1")
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return out
}

func allClaims(ctx context.Context, t *testing.T, svc *alloc.Service) map[string]ipam.Claim {
	t.Helper()
	out := map[string]ipam.Claim{}
	for cursor := ""; ; {
		page, err := svc.ListClaims(ctx, project, paging.Filter{}, 500, cursor, usecase.Reading{})
		require.NoError(t, err)
		for _, c := range page.Items {
			out[c.Name] = c
		}
		if cursor = page.Next; cursor == "" {
			return out
		}
	}
}

// compare compares the result that a worker got with the stored claim. If the outcome of a request is unknown, compare repeats the request with the
// same key.
func (e *entry) compare(ctx context.Context, name string, stored map[string]ipam.Claim, svc *alloc.Service) []string {
	c, there := stored[name]
	switch e.told {
	case isHeld:
		if !there || c.Block != e.claim.Block || c.UID != e.claim.UID {
			return []string{fmt.Sprintf("told: %s holds %s; stored: %t %s", name, e.claim.Block, there, c.Block)}
		}
	case isReleased, isAbsent:
		if there {
			return []string{fmt.Sprintf("told: %s is %s; stored: %s", name, e.told, c.Block)}
		}
	case isUnsure:
		r, err := svc.CreateClaim(ctx, project, claimOf(name, project, "pool", 32), keyOf(name))
		if e.claim.Block.IsValid() && !there && ipam.IsCode(err, ipam.CodeClaimReleased) {
			return nil // the worker held the claim, and the release had the unknown outcome
		}
		if err != nil || there && r.Value.Block != c.Block {
			return []string{fmt.Sprintf("repeat: %s: %v; stored: %t %s, answer: %s", name, err, there, c.Block, r.Value.Block)}
		}
	}
	return nil
}

// maxTries limits the attempts of one transaction. It is well below the runner's own limit of 30. All transactions together may have three attempts
// for each request. We measured one attempt for each request, because requests share transactions.
const maxTries = 25

func (l *ledger) attempts() (out []string) {
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	groups := 0
	for _, a := range l.seen.list {
		if a.Op == "claim_group" {
			groups++
		}
		if a.Number >= maxTries {
			out = append(out, fmt.Sprintf("attempts: %s was tried %d times", a.Op, a.Number+1))
		}
	}
	if groups > 3*l.ops {
		out = append(out, fmt.Sprintf("attempts: %d for %d requests", groups, l.ops))
	}
	return out
}

// unusable releases all claims, and then allocates the whole pool as one block.
func unusable(ctx context.Context, t *testing.T, svc *alloc.Service) (out []string) {
	t.Helper()
	for name := range allClaims(ctx, t, svc) {
		if err := svc.DeleteClaim(ctx, project, name, usecase.Request{}); err != nil {
			out = append(out, fmt.Sprintf("unusable: %s cannot be released: %v", name, err))
		}
	}
	if _, err := svc.CreateClaim(ctx, project, claimOf("everything", project, "pool", cidr(chaosPool).Bits()), usecase.Request{}); err != nil {
		out = append(out, fmt.Sprintf("unusable: %v", err))
	}
	return out
}

// kinds returns the number of violations of each kind, which is the first word of a violation.
func kinds(violations []string) map[string]int {
	out := map[string]int{}
	for _, v := range violations {
		word, _, _ := strings.Cut(v, ": ")
		out[word]++
	}
	return out
}
