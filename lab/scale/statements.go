package scale

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

// cost is PostgreSQL's count for one statement.
type cost struct {
	calls, pages int64
}

// forget resets PostgreSQL's counts for one database.
func (d *database) forget(ctx context.Context, name string) error {
	_, err := d.Admin.Exec(ctx, "SELECT pg_stat_statements_reset(0, (SELECT oid FROM pg_database WHERE datname = $1), 0)", name)
	return err
}

// said returns the counts of each statement in a database since the last reset.
func (d *database) said(ctx context.Context, name string) (map[string]cost, error) {
	rows, err := d.Admin.Query(ctx, `SELECT s.query, s.calls, s.shared_blks_hit + s.shared_blks_read FROM pg_stat_statements AS s
		JOIN pg_database AS b ON b.oid = s.dbid WHERE b.datname = $1`, name)
	if err != nil {
		return nil, err
	}
	out := map[string]cost{}
	var text string
	var c cost
	_, err = pgx.ForEachRow(rows, []any{&text, &c.calls, &c.pages}, func() error {
		key := statementName(text)
		sum := out[key]
		out[key] = cost{sum.calls + c.calls, sum.pages + c.pages}
		return nil
	})
	return out, err
}

var (
	literals   = regexp.MustCompile(`'[^']*'|\$?\b\d+\b|\b(?i:true|false|null)\b`)
	spaces     = regexp.MustCompile(`\s+`)
	statements = sync.OnceValue(func() map[string]string { return plainly(query.All()) })
)

// plainly returns the names of statements by their text without constants.
func plainly(all map[string]string) map[string]string {
	names := map[string]string{}
	for name, text := range all {
		names[plain(text)] = name
	}
	return names
}

// plain returns a statement without its constants. PostgreSQL counts statements together if they differ only in constants.
func plain(text string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(literals.ReplaceAllString(text, "?"), " "))
}

// statementName returns a statement's name in internal/crdb/query. For an unnamed statement it returns the beginning of the text.
func statementName(text string) string {
	text = plain(text)
	if name, ok := statements()[text]; ok {
		return name
	}
	if name, ok := plainly(query.MergedStatements())[text]; ok {
		return name
	}
	if runes := []rune(text); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return text
}
