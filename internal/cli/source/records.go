package source

import (
	"iter"
	"net/netip"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/packed"
)

// Records has the rows of a source in their order. A source can have very many rows, so each row is packed in one string. At decodes that string.
type Records struct {
	packed  []string
	words   []string // values that many rows have
	word    map[string]uint64
	columns []*[]string
	column  map[*[]string]uint64
	sets    map[string]*[]string // columns by their names
	owns    []*Own
}

// Len returns the number of rows.
func (rs *Records) Len() int { return len(rs.packed) }

// At returns a copy of a row. To change the row itself, pass the changed copy to set.
func (rs *Records) At(n int) Record {
	u := packed.Rest(rs.packed[n])
	r := Record{Kind: Kind(rs.words[u.Number()]), Domain: rs.words[u.Number()], Status: rs.words[u.Number()]}
	r.ID, r.Name, r.Same, r.Problem = u.Text(), u.Text(), u.Text(), u.Text()
	r.Block = u.Block()
	if first := u.Address(); first.IsValid() {
		r.Span = &Span{first, u.Address()}
	}
	if own := u.Number(); own > 0 {
		r.Own = rs.owns[own-1]
	}
	if columns := u.Number(); columns > 0 {
		r.Fields.columns = rs.columns[columns-1]
	}
	r.Fields.exact = u.Number() == 1
	r.Fields.cells = string(u)
	return r
}

// All iterates over the rows.
func (rs *Records) All() iter.Seq2[int, Record] {
	return func(yield func(int, Record) bool) {
		for n := range rs.packed {
			if !yield(n, rs.At(n)) {
				return
			}
		}
	}
}

// add appends rows.
func (rs *Records) add(rows ...Record) {
	for n := range rows {
		rs.packed = append(rs.packed, rs.pack(&rows[n]))
	}
}

// set replaces a row.
func (rs *Records) set(n int, r Record) { rs.packed[n] = rs.pack(&r) }

// grow makes room for more rows at once. Without it, each growth of the slice would copy the rows and need twice the memory.
func (rs *Records) grow(rows int) { rs.packed = slices.Grow(rs.packed, rows) }

func (rs *Records) pack(r *Record) string {
	fields := rs.fields(r.Fields)
	b := make([]byte, 0, 512)
	for _, word := range []string{string(r.Kind), r.Domain, r.Status} {
		b = packed.AppendNumber(b, rs.wordOf(word))
	}
	for _, text := range []string{r.ID, r.Name, r.Same, r.Problem} {
		b = packed.AppendText(b, text)
	}
	b = packed.AppendBlock(b, r.Block)
	if r.Span != nil {
		b = packed.AppendAddress(packed.AppendAddress(b, r.Span.First), r.Span.Last)
	} else {
		b = packed.AppendAddress(b, netip.Addr{})
	}
	own := uint64(0)
	if r.Own != nil {
		rs.owns = append(rs.owns, r.Own)
		own = uint64(len(rs.owns))
	}
	b = packed.AppendNumber(b, own)
	b = packed.AppendNumber(b, rs.columnsOf(fields.columns))
	exact := uint64(0)
	if fields.exact {
		exact = 1
	}
	return string(append(packed.AppendNumber(b, exact), fields.cells...))
}

func (rs *Records) wordOf(word string) uint64 {
	n, found := rs.word[word]
	if !found {
		if rs.word == nil {
			rs.word = map[string]uint64{}
		}
		n, word = uint64(len(rs.words)), strings.Clone(word)
		rs.words, rs.word[word] = append(rs.words, word), n
	}
	return n
}

// columnsOf returns the number of a set of columns. The numbers start at 1.
func (rs *Records) columnsOf(columns *[]string) uint64 {
	if columns == nil {
		return 0
	}
	n, found := rs.column[columns]
	if !found {
		if rs.column == nil {
			rs.column = map[*[]string]uint64{}
		}
		rs.columns = append(rs.columns, columns)
		n = uint64(len(rs.columns))
		rs.column[columns] = n
	}
	return n
}

// fields returns the same fields with all values in cells. Rows whose fields have the same names then share their columns.
func (rs *Records) fields(f Fields) Fields {
	if len(f.more) == 0 {
		return f
	}
	type pair struct{ name, value string }
	var pairs []pair
	over := map[string]bool{}
	for at := 0; at < len(f.more); at += 2 {
		over[f.more[at]] = true
		if f.more[at+1] != "" {
			pairs = append(pairs, pair{f.more[at], f.more[at+1]})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	for column, cell := range f.each {
		if !f.exact {
			cell = strings.TrimSpace(cell)
		}
		if !over[column] && cell != "" {
			pairs = append(pairs, pair{column, cell})
		}
	}
	names, cells := make([]string, len(pairs)), make([]string, len(pairs))
	for n, p := range pairs {
		names[n], cells[n] = p.name, p.value
	}
	key := strings.Join(names, "\x00")
	columns := rs.sets[key]
	if columns == nil {
		if rs.sets == nil {
			rs.sets = map[string]*[]string{}
		}
		columns = &names
		rs.sets[key] = columns
	}
	all := cellsOf(columns, cells)
	all.exact = true
	return all
}
