package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Finding is one violated invariant.
type Finding struct {
	Invariant string // name of the invariant
	Container string // id of a container, space, project or quota, or of the subject of a grant
	Detail    string
}

// Report is the result of an audit. Without findings, every invariant holds.
type Report struct {
	Checked  map[string]int64 // number of checked rows by table
	Findings []Finding
}

// maxFindings limits the findings for each invariant. One finding is enough to show that something is wrong.
const maxFindings = 100

// Run checks every invariant in one snapshot of the database. It can run while the service works. It changes only the statistics of the database, and
// only if the user has the privilege. Its statements end when the caller disconnects.
func Run(ctx context.Context, dsn string) (Report, error) {
	report := Report{Checked: map[string]int64{}}
	cfg, err := dial.ParseAny(dsn)
	if err != nil {
		return report, err
	}
	cfg.RuntimeParams["application_name"] = "carve-audit"
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return report, fmt.Errorf("cannot connect to the database: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	engine, err := dial.EngineOn(ctx, c)
	if err != nil {
		return report, err
	}
	if _, err := schema.CheckUserOn(ctx, c, schema.ReaderRole); errors.Is(err, schema.ErrPrivileges) || errors.Is(err, schema.ErrTooOld) { // the audit itself finds all other faults
		return report, err
	}
	for _, sql := range preparations(engine) {
		_, _ = c.Exec(ctx, sql) // a failure only costs time; no finding depends on the statement
	}
	tx, err := c.BeginTx(ctx, snapshot(engine)) //nolint:forbidigo // a read-only snapshot of the committed state
	if err != nil {
		return report, fmt.Errorf("cannot read the database: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	invariants := statements()
	for _, name := range slices.Sorted(maps.Keys(invariants)) {
		found, err := violations(ctx, tx, name, invariants[name])
		if err != nil {
			return report, fmt.Errorf("invariant %s: %w", name, err)
		}
		report.Findings = append(report.Findings, found...)
	}
	found, err := reservationViolations(ctx, tx)
	if err != nil {
		return report, fmt.Errorf("invariant reservations: %w", err)
	}
	report.Findings = append(report.Findings, found...)
	found, err = scopeViolations(ctx, tx)
	if err != nil {
		return report, fmt.Errorf("invariant classes: %w", err)
	}
	report.Findings = append(report.Findings, found...)
	if found, err = stockViolations(ctx, tx); err != nil {
		return report, fmt.Errorf("invariant fences: %w", err)
	}
	report.Findings = append(report.Findings, found...)
	return report, count(ctx, tx, report.Checked)
}

func violations(ctx context.Context, tx pgx.Tx, name, sql string) ([]Finding, error) {
	answer, err := tx.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	var out []Finding
	var container, detail string
	total := 0
	_, err = pgx.ForEachRow(answer, []any{&container, &detail}, func() error {
		if total++; total <= maxFindings {
			out = append(out, Finding{Invariant: name, Container: container, Detail: detail})
		}
		return nil
	})
	if total > maxFindings {
		out = append(out, Finding{Invariant: name, Detail: fmt.Sprintf("only the first %d of %d findings are shown", maxFindings, total)})
	}
	return out, err
}

// reservationViolations compares the reservations in the specs of pools with the blocks that the pools hold as reserved.
func reservationViolations(ctx context.Context, tx pgx.Tx) ([]Finding, error) {
	answer, err := tx.Query(ctx, statement("reservations"))
	if err != nil {
		return nil, err
	}
	type pool struct {
		block netip.Prefix
		spec  []ipam.Reservation
		held  map[netip.Prefix]string
	}
	pools := map[string]*pool{}
	var (
		id, reason         string
		poolBase, heldBase []byte
		poolLen            int
		heldLen            *int
		spec               []ipam.Reservation
		heldReason         *string
	)
	_, err = pgx.ForEachRow(answer, []any{&id, &poolBase, &poolLen, &spec, &heldBase, &heldLen, &heldReason}, func() error {
		p := pools[id]
		if p == nil {
			b, err := rows.Block(poolBase, poolLen)
			if err != nil {
				return err
			}
			p = &pool{block: b, spec: slices.Clone(spec), held: map[netip.Prefix]string{}}
			pools[id] = p
		}
		if heldLen != nil {
			b, err := rows.Block(heldBase, *heldLen)
			if err != nil {
				return err
			}
			if reason = ""; heldReason != nil {
				reason = *heldReason
			}
			p.held[b] = reason
		}
		spec = nil
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []Finding
	for id, p := range pools {
		want, err := carve.ReservedBlocks(p.block, p.spec)
		if err != nil {
			out = append(out, Finding{"reservations", id, "the stored reservations are not valid"})
			continue
		}
		if !maps.Equal(want, p.held) {
			out = append(out, Finding{"reservations", id, fmt.Sprintf("holds %d reserved blocks, but its spec has %d, or other ones", len(p.held), len(want))})
		}
	}
	return out, nil
}

func count(ctx context.Context, tx pgx.Tx, into map[string]int64) error {
	tables := []string{
		"projects", "spaces", "pools", "classes", "pool_classes", "holds", "free_blocks",
		"members", "api_keys", "grants", "quotas", "quota_shards", "audit_events", "history", "removals",
		"pool_regions", "region_blocks", "stocks", "project_regions", "fences", "consumers", "attachments", "realms", "webhooks", "deliveries",
		"alert_rules", "alerts", "utilization",
	}
	n := make([]int64, len(tables))
	dest := make([]any, len(tables))
	for i := range n {
		dest[i] = &n[i]
	}
	if err := tx.QueryRow(ctx, statement("counts")).Scan(dest...); err != nil {
		return err
	}
	for i, t := range tables {
		into[t] = n[i]
	}
	return nil
}
