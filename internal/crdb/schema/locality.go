package schema

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Locality defines where CockroachDB stores a table's rows. Its values are the words in SET LOCALITY and SHOW TABLES.
type Locality string

// The localities in use:
//
//   - REGIONAL BY ROW stores each row in the region that its column region names. Reads and writes there have local latency.
//   - GLOBAL gives reads local latency in every region. Each write waits until the clocks in all regions have passed its time.
//   - REGIONAL BY TABLE stores all rows in one region.
const (
	RegionalByRow   Locality = "REGIONAL BY ROW AS region"
	Global          Locality = "GLOBAL"
	RegionalByTable Locality = "REGIONAL BY TABLE IN PRIMARY REGION"
)

// localityIn returns the locality in a database with this number of regions. In a single region, a GLOBAL table has no advantage, and its writes
// would still wait for clocks. So there it is REGIONAL BY TABLE.
func (t Table) localityIn(regions int) Locality {
	if t.Locality == Global && regions < 2 {
		return RegionalByTable
	}
	return t.Locality
}

// localitySteps returns the statements that move each table to its locality if the table has another one. current contains the current localities. A
// table that the database lacks is skipped.
func localitySteps(current map[string]Locality, regions int) (steps []ddl) {
	for _, t := range Tables() {
		want := t.localityIn(regions)
		if is, there := current[t.Name]; there && is != want {
			steps = append(steps, ddl{setLocality(t.Name, want), "the table " + t.Name + " is now " + string(want)})
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
	for _, t := range Tables() {
		where[t.Name] = t.localityIn(regions)
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
