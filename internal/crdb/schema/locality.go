package schema

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Locality defines where CockroachDB stores the rows of a table. Its values are the words of SET LOCALITY and SHOW TABLES.
type Locality string

// The localities in use:
//
//   - REGIONAL BY ROW stores each row in the region that its column region names. Reads and writes there have local latency.
//   - GLOBAL gives reads local latency in every region. Each write waits until the clocks of all regions have passed its time.
//   - REGIONAL BY TABLE stores all rows in one region.
const (
	RegionalByRow   Locality = "REGIONAL BY ROW AS region"
	Global          Locality = "GLOBAL"
	RegionalByTable Locality = "REGIONAL BY TABLE IN PRIMARY REGION"
)

// TableLocality is the locality of a table, with the reason.
type TableLocality struct {
	Table    string
	Locality Locality
	Why      string
}

// Localities returns the locality of every migrated table, including goose's two tables. If the primary key of a table begins with region, the table
// is regional by row. Otherwise it is not.
func Localities() []TableLocality {
	return []TableLocality{
		{"alert_rules", RegionalByRow, "rules of alerts: written with every check"},
		{"alerts", RegionalByRow, "current alerts: in the region of their rules"},
		{"api_keys", Global, "read by requests everywhere; the last use is written in the background"},
		{"attachments", RegionalByRow, "consumers of a claim: in the region of the claim"},
		{"audit_events", RegionalByRow, "audit trail: every change appends to it"},
		{"classes", Global, "read by claims everywhere, changed by operators"},
		{"compatibility", Global, "versions that may use the database: read often by all servers, written only by ipamctl migrate"},
		{"consumers", RegionalByRow, "users of claims: renewed often"},
		{"deliveries", RegionalByRow, "deliveries to webhooks: in the region of the webhook"},
		{"feed", Global, "key for the cursors of the feed: read by followers, written by retention"},
		{"fences", RegionalByRow, "version and stock of a container: written by every claim and release"},
		{"free_blocks", RegionalByRow, "free blocks: written by every claim and release"},
		{"goose_db_version", RegionalByTable, "applied migrations: read when a server starts"},
		{"goose_lock", RegionalByTable, "lease of a migration"},
		{"grants", Global, "read by claims everywhere, changed by providers"},
		{"history", RegionalByRow, "past holders of blocks: every release appends to it"},
		{"holds", RegionalByRow, "claims and other allocations: written by every claim and release"},
		{"idempotency_keys", RegionalByRow, "responses for retries: written by every request with a key"},
		{"members", Global, "read by requests everywhere, changed by admins"},
		{"pool_classes", Global, "read by claims everywhere, changed with a pool's classes"},
		{"pool_regions", Global, "read by claims of pools in several regions; written when blocks are lent"},
		{"pools", Global, "read by claims everywhere, changed by providers"},
		{"project_regions", Global, "regions with names of a project; written once for each project and region"},
		{"projects", Global, "read by requests everywhere, changed by admins"},
		{"quota_shards", RegionalByRow, "usage of a quota: written by every claim and release"},
		{"quotas", Global, "read by claims everywhere, changed by admins"},
		{"realms", RegionalByRow, "realms in which many consumers expired at once: in the region of the consumers"},
		{"region_blocks", Global, "loans to regions: one key for the whole cluster"},
		{"regions", Global, "regions: written only by ipamctl migrate"},
		{"removals", RegionalByTable, "deleted projects with records left: mostly empty, and read by a background job"},
		{"sessions", Global, "read by requests of browsers everywhere; the last use is written in the background"},
		{"spaces", Global, "read by requests everywhere, changed by admins"},
		{"stocks", RegionalByRow, "epoch of a pool in a region: in that region"},
		{"utilization", RegionalByRow, "usage of pools: recorded by the servers in their home region"},
		{"webhooks", RegionalByRow, "webhooks and their positions: written with every delivery"},
	}
}

// in returns the locality in a database with this number of regions. In a single region, a GLOBAL table has no advantage, and its writes would still
// wait for clocks. So there it is REGIONAL BY TABLE.
func (t TableLocality) in(regions int) Locality {
	if t.Locality == Global && regions < 2 {
		return RegionalByTable
	}
	return t.Locality
}

// localitySteps returns the statements that move each table to its locality if it has another one. has contains the current localities. A table that
// the database lacks is skipped.
func localitySteps(has map[string]Locality, regions int) (steps []ddl) {
	for _, t := range Localities() {
		want := t.in(regions)
		if is, there := has[t.Table]; there && is != want {
			steps = append(steps, ddl{setLocality(t.Table, want), "the table " + t.Table + " is now " + string(want)})
		}
	}
	return steps
}

// newTable matches a CREATE TABLE statement in a numbered file, up to its semicolon.
var newTable = regexp.MustCompile(`(?ms)^CREATE TABLE IF NOT EXISTS (\w+) \(\n.*?\n\)[^;]*`)

// withLocalities adds the locality to each CREATE TABLE in a numbered migration file. Otherwise the table would be moved later, and moving even an
// empty table is a job that takes seconds.
func withLocalities(sql string, regions int) string {
	where := map[string]Locality{}
	for _, t := range Localities() {
		where[t.Table] = t.in(regions)
	}
	return newTable.ReplaceAllStringFunc(sql, func(create string) string {
		if locality, known := where[newTable.FindStringSubmatch(create)[1]]; known {
			return create + " LOCALITY " + string(locality)
		}
		return create
	})
}

// placedFiles contains the numbered migration files for a database with this number of regions.
type placedFiles struct {
	fs.FS
	regions int
}

// Open implements fs.FS.
func (p placedFiles) Open(name string) (fs.File, error) {
	f, err := p.FS.Open(name)
	if err != nil || path.Ext(name) != ".sql" {
		return f, err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return placedFile{f, strings.NewReader(withLocalities(string(text), p.regions))}, nil
}

type placedFile struct {
	fs.File
	text io.Reader
}

// Read implements fs.File.
func (f placedFile) Read(b []byte) (int, error) { return f.text.Read(b) }
