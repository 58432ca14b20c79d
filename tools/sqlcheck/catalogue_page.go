package sqlcheck

import (
	"fmt"
	"strings"
)

// Page writes docs/sql.md.
func page(entries []entry, known schema, requests []request) string {
	var b strings.Builder
	regional, global, primary := known.kept()
	fmt.Fprintf(&b, intro, code(regional), code(global), code(primary))
	b.WriteString("\n## Statements\n\n| statement | purpose | index | rows | regions | locks | where |\n|---|---|---|---|---|---|---|\n")
	used := usedIn(requests)
	for _, e := range entries {
		where := strings.Join(used[e.name], ", ")
		if where == "" {
			where = notRecorded
		}
		row(&b, "`"+e.name+"`", e.remarks["purpose"], e.remarks["index"], e.remarks["rows"], e.regions, e.remarks["locks"], where)
	}
	b.WriteString(requestsIntro)
	for _, r := range requests {
		row(&b, r.Request, fmt.Sprint(r.trips()), r.reads(), r.transactions())
	}
	return b.String()
}

const notRecorded = "in no recorded request"

func row(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

func code(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

const intro = `# The statements

Written by ` + "`make generate`" + `; do not edit. The first table is made of the statements themselves (` + "`internal/crdb/query`" + `): their heads, and
what CockroachDB's grammar says of them; where the rows are is ` + "`internal/crdb/locality.go`" + `'s. The second is made of what a test records on the wire (` + "`internal/crdb/testdata/transactions.json`" + `). No figure here was
written by hand. None was measured on CockroachDB: for what was run there see [cockroachdb.md](cockroachdb.md).

* **Index**: every one that is named here is in the statement's golden plan on PostgreSQL, or is one that its new rows are entered into; a test
  compares them.
* **Regions**: *own*: the rows of one region, that of the statement's parameter. It is the server's own, but where blocks are lent or called back, or a pool of another
  region is looked at. *Those of its rows*: each row that it is given names its region. *None: GLOBAL*: every region has the whole table and reads it at home.
  *Every, to write GLOBAL*: the commit waits until every region can read it. *Every* otherwise: with the reason.
* **Locks** are those of rows. On PostgreSQL transactions also lock pools and quotas by advisory locks ([ADR 14](adr/0014-locks-on-postgresql.md)).
* **Where**: the transactions that a recorded request sent it in. A batch is one round trip: a statement costs none of its own in one.

Rows of a region (REGIONAL BY ROW on a multi-region cluster): %s.

In every region (GLOBAL there): %s.

In the primary region (REGIONAL BY TABLE), because no request waits for them: %s.
`

const requestsIntro = `
## Requests and jobs

What each request sends on PostgreSQL, when it is the first that its server gets: it remembers no project, pool or class yet (` + "`CreateAnotherClaim`" + ` is a first claim and a
second one). Authentication comes before that, and is one read, which is remembered for a while. ` + "`/`" + ` parts round trips, ` + "`+`" + ` statements that go out in one; what is sent several times in a row
is written once. *lock* is PostgreSQL's alone. CockroachDB adds what its protocol of retries needs to each transaction: BEGIN and SAVEPOINT go out before the first statement, RELEASE before COMMIT.

| request | round trips | reads, one round trip each | transactions: round trips |
|---|---|---|---|
`
