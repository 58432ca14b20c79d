package source

import (
	"iter"
	"net/netip"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/packed"
)

// Records has a source's rows, in order. A source can have very many rows, so each row is packed in one string. At decodes that string.
type Records struct {
	packed  []string
	words   packed.Index[string] // values that many rows have
	columns packed.Index[*[]string]
	sets    map[string]*[]string // columns by their names
	owns    packed.Index[*Own]
}

// Len returns the number of rows.
func (rs *Records) Len() int { return len(rs.packed) }

// At returns a copy. To change the row itself, pass the changed copy to set.
func (rs *Records) At(n int) Record {
	u := packed.Rest(rs.packed[n])
	r := Record{Kind: Kind(rs.words.Value(u.Number())), Domain: rs.words.Value(u.Number()), Status: rs.words.Value(u.Number())}
	r.ID, r.Name, r.ObjectKey, r.Problem = u.Text(), u.Text(), u.Text(), u.Text()
	r.Block = u.Block()
	if first := u.Address(); first.IsValid() {
		r.Span = &Span{first, u.Address()}
	}
	r.Own, r.Fields.columns = rs.owns.Value(u.Number()), rs.columns.Value(u.Number())
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

// grow allocates memory for more rows at once. Otherwise the slice would grow many times, and would need twice the memory each time.
func (rs *Records) grow(rows int) { rs.packed = slices.Grow(rs.packed, rows) }

func (rs *Records) pack(r *Record) string {
	fields := rs.fields(r.Fields)
	b := make([]byte, 0, 512)
	for _, word := range []string{string(r.Kind), r.Domain, r.Status} {
		b = packed.AppendNumber(b, rs.words.Number(word))
	}
	for _, text := range []string{r.ID, r.Name, r.ObjectKey, r.Problem} {
		b = packed.AppendText(b, text)
	}
	b = packed.AppendBlock(b, r.Block)
	if r.Span != nil {
		b = packed.AppendAddress(packed.AppendAddress(b, r.Span.First), r.Span.Last)
	} else {
		b = packed.AppendAddress(b, netip.Addr{})
	}
	b = packed.AppendNumber(b, rs.owns.Number(r.Own))
	b = packed.AppendNumber(b, rs.columns.Number(fields.columns))
	exact := uint64(0)
	if fields.exact {
		exact = 1
	}
	return string(append(packed.AppendNumber(b, exact), fields.cells...))
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
