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
	Invariant string `json:"invariant"` // the invariant's name
	Container string `json:"container"` // the id of a container, space, project or quota, or a grant's subject
	Detail    string `json:"detail"`
}

// Report is an audit's result. Without findings, every invariant holds.
type Report struct {
	Checked  map[string]int64 // checked rows by table
	Findings []Finding
}

// maxFindings limits the findings for each invariant. One finding is enough to show that something is wrong.
const maxFindings = 100

// Run checks every invariant in one snapshot. It can run while the service works. It changes only the database's statistics, and only if the user has
// the privilege. Its statements end when the caller disconnects.
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
	defer dial.Close(ctx, c)
	rows.RegisterCodecs(c.TypeMap())
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
	tx, err := c.BeginTx(ctx, snapshot(engine)) //nolint:forbidigo // a read-only snapshot
	if err != nil {
		return report, fmt.Errorf("cannot read the database: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	for _, name := range invariants {
		found, err := violations(ctx, tx, name)
		if err != nil {
			return report, fmt.Errorf("invariant %s: %w", name, err)
		}
		report.Findings = append(report.Findings, found...)
	}
	for _, check := range []struct {
		name string
		find func(context.Context, pgx.Tx) ([]Finding, error)
	}{{"reservations", reservationViolations}, {"classes", scopeViolations}, {"fences", stockViolations}} {
		found, err := check.find(ctx, tx)
		if err != nil {
			return report, fmt.Errorf("invariant %s: %w", check.name, err)
		}
		report.Findings = append(report.Findings, found...)
	}
	return report, count(ctx, tx, report.Checked)
}

func violations(ctx context.Context, tx pgx.Tx, name string) ([]Finding, error) {
	records, err := tx.Query(ctx, statement(name))
	if err != nil {
		return nil, err
	}
	found := findings{invariant: name}
	var container, detail string
	_, err = pgx.ForEachRow(records, []any{&container, &detail}, func() error {
		found.add(container, detail)
		return nil
	})
	return found.shown(), err
}

// findings collects the findings for one invariant.
type findings struct {
	invariant string
	first     []Finding // at most maxFindings
	total     int
}

func (f *findings) add(container, detail string) {
	if f.total++; f.total <= maxFindings {
		f.first = append(f.first, Finding{f.invariant, container, detail})
	}
}

// shown returns the first findings. If there are more, it adds a finding with their number.
func (f *findings) shown() []Finding {
	if f.total <= maxFindings {
		return f.first
	}
	return append(f.first, Finding{Invariant: f.invariant, Detail: fmt.Sprintf("only the first %d of %d findings are shown", maxFindings, f.total)})
}

// reservationViolations compares the reservations in pool specs with the blocks that the pools hold as reserved.
func reservationViolations(ctx context.Context, tx pgx.Tx) ([]Finding, error) {
	records, err := tx.Query(ctx, statement("reservations"))
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
	_, err = pgx.ForEachRow(records, []any{&id, &poolBase, &poolLen, &spec, &heldBase, &heldLen, &heldReason}, func() error {
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
