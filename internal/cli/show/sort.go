package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
)

// sortPage sorts a list by --sort-by. The flag has a column's title or a path into each document.
func sortPage(p *Printer, v View, l *Page) error {
	if p.SortBy == "" {
		return nil
	}
	keyOf, err := sortKey(p, v)
	if err != nil {
		return err
	}
	type keyed struct {
		key string
		doc json.RawMessage
	}
	all, found := make([]keyed, len(l.Items)), len(l.Items) == 0
	for i, doc := range l.Items {
		key, err := keyOf(doc)
		if err != nil {
			return err
		}
		all[i], found = keyed{key, doc}, found || key != ""
	}
	if !found {
		titles := WordsOf(v.Columns, func(c Column) string { return strings.ToLower(c.Title) })
		return exit.Usagef("--sort-by %s: no %s has this; use a path such as .metadata.createdAt, or one of the columns %s", p.SortBy, v.Kind, JoinComma(titles))
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return natural(a.key, b.key) })
	for i := range all {
		l.Items[i] = all[i].doc
	}
	return nil
}

// sortKey returns the function that computes a document's sort key.
func sortKey(p *Printer, v View) (func(doc json.RawMessage) (string, error), error) {
	for _, c := range v.Columns {
		if !strings.EqualFold(c.Title, p.SortBy) {
			continue
		}
		return func(doc json.RawMessage) (string, error) {
			object, err := v.Decode(doc)
			if err != nil {
				return "", err
			}
			return c.Cell(object), nil
		}, nil
	}
	j, err := path(p.SortBy)
	if err != nil {
		return nil, fmt.Errorf("--sort-by: %w", err)
	}
	return func(doc json.RawMessage) (string, error) {
		value, err := wholeNumbers(doc)
		return valueAt(j, value), err
	}, nil
}

// natural compares two values. It sorts addresses and blocks by address, numbers by size, and all other values as text. Empty values come last.
func natural(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	if x, okX := blockOf(a); okX {
		if y, okY := blockOf(b); okY {
			return cmp.Or(x.Addr().Compare(y.Addr()), cmp.Compare(x.Bits(), y.Bits()))
		}
	}
	if x, okX := numberOf(a); okX {
		if y, okY := numberOf(b); okY {
			return cmp.Compare(x, y)
		}
	}
	return strings.Compare(a, b)
}

func blockOf(s string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p, true
	}
	a, err := netip.ParseAddr(s)
	return netip.PrefixFrom(a, a.BitLen()), err == nil
}

func numberOf(s string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.Trim(s, "/%"), 64)
	return n, err == nil
}
