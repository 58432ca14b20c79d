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
	// Like is a known name that is similar to the title. The table has no column with that name or with a synonym of it.
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
func (h *header) nowhere(f File, expected string) error {
	e := &NoPlace{File: f.Name, Line: h.line, Titles: h.titles, Expected: expected, Guess: map[string]string{}}
	l := linesOf(f)
	if _, _, err := l.next(); err != nil {
		return e
	}
	_, cells, err := l.next()
	if err != nil {
		return e
	}
	for n, cell := range cells[:min(len(cells), len(h.titles))] {
		name := ""
		if block, err := netip.ParsePrefix(strings.TrimSpace(cell)); err == nil && block == block.Masked() {
			name = "cidr"
		} else if _, err := hostOf(cell); err == nil {
			name = "address"
		}
		if name != "" && e.Guess["cidr"] == "" && e.Guess["address"] == "" {
			e.Guess[name] = h.titles[n]
		}
	}
	return e
}

// columns stores the fields that the rows of a table can have. It also stores the unknown columns.
func (out *Reading) columns(f File, h *header, places []string, texts ...[]string) {
	out.fill(h.names...)
	known := slices.Concat(append(texts, places)...)
	for n, name := range h.names {
		if name == "" || slices.Contains(known, name) {
			continue
		}
		u := Unknown{File: f.Name, Title: h.titles[n], Name: name}
		for _, group := range texts {
			if h.has(group...) {
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
