package source

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Unknown is a column whose title the reader does not know.
type Unknown struct {
	File, Title, Name string
	// Like is a known name that is similar to the title. The table has no column with that name or a synonym.
	Like string
}

// NoPlace is the error for a table that has no column with addresses.
type NoPlace struct {
	File     string
	Line     int
	Titles   []string
	Expected string
	// Guess maps a known name to the column that seems to contain such addresses.
	Guess map[string]string
}

// Error names the titles in the file and the titles that ipamctl accepts.
func (e *NoPlace) Error() string {
	titles := make([]string, len(e.Titles))
	for n, title := range e.Titles {
		titles[n] = shown(title)
	}
	return fmt.Sprintf("%s:%d: no column has a known title for addresses. The titles are %s; known titles are %s. Rename the column, or name it in `columns` of a mapping; "+
		"--write-mapping writes one", e.File, e.Line, strings.Join(titles, ", "), e.Expected)
}

// nowhere returns the error for a table without a required column. It searches the first row for columns that contain addresses.
func (t *table) nowhere(expected string) error {
	e := &NoPlace{File: t.Name, Line: t.line, Titles: t.titles, Expected: expected, Guess: map[string]string{}}
	l := linesOf(t.File)
	if _, _, err := l.next(); err != nil {
		return e
	}
	_, cells, err := l.next()
	if err != nil {
		return e
	}
	for n, cell := range cells[:min(len(cells), len(t.titles))] {
		name := ""
		if block, err := netip.ParsePrefix(strings.TrimSpace(cell)); err == nil && block == block.Masked() {
			name = "cidr"
		} else if _, err := hostOf(cell); err == nil {
			name = "address"
		}
		if name != "" && e.Guess["cidr"] == "" && e.Guess["address"] == "" {
			e.Guess[name] = t.titles[n]
		}
	}
	return e
}

// synonyms reads lists of column names. The names in one line have the same meaning.
func synonyms(text string) (groups [][]string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		groups = append(groups, strings.Fields(line))
	}
	return groups
}

// table reads a table. places and texts have the names of known columns. In texts, the names in one group have the same meaning.
func (out *Reading) table(t *table, places []string, texts [][]string, read func(row) Record) error {
	out.columns(t, places, texts)
	return out.rows(t, read)
}

// rows reads a table whose columns are all known.
func (out *Reading) rows(t *table, read func(row) Record) error {
	out.Table = true
	if !t.listed {
		out.listFile("a table")
	}
	out.titles = append(out.titles, t.titles...)
	out.Records.grow(t.File.lines)
	return t.rows(func(r row) { out.Records.add(read(r)) })
}

// columns stores the fields that a table's rows can have. It also stores the unknown columns.
func (out *Reading) columns(t *table, places []string, texts [][]string) {
	out.fill(t.names...)
	known := slices.Concat(slices.Concat(texts...), places)
	for n, name := range t.names {
		if name == "" || slices.Contains(known, name) {
			continue
		}
		u := Unknown{File: t.Name, Title: t.titles[n], Name: name}
		for _, group := range texts {
			if t.has(group...) {
				continue
			}
			for _, one := range group {
				if u.Like == "" && resembles(name, one) {
					u.Like = one
				}
			}
		}
		out.Unknown = append(out.Unknown, u)
	}
}

// resembles reports whether two words differ only by a typing mistake. The mistake is one letter, or two swapped letters.
func resembles(a, b string) bool {
	const shortest = 4
	if len(a) < shortest || len(b) < shortest || a == b {
		return false
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	at := 0
	for at < len(a) && a[at] == b[at] {
		at++
	}
	switch len(b) - len(a) {
	case 1: // a letter is missing in the shorter word
		return a[at:] == b[at+1:]
	case 0:
		return a[at+1:] == b[at+1:] || at+1 < len(a) && a[at] == b[at+1] && a[at+1] == b[at] && a[at+2:] == b[at+2:]
	default:
		return false
	}
}
