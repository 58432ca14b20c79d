package claims

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
)

func itemPointer(i int) string { return "/claims/" + strconv.Itoa(i) }

// inItem moves the places that an error names into item i of the batch.
func inItem(err error, i int) error {
	e, ok := err.(*ipam.Error) //nolint:errorlint // only the refusal itself is re-pointed
	if !ok {
		return err
	}
	c := *e
	c.Fields = slices.Clone(e.Fields)
	for n := range c.Fields {
		if p := c.Fields[n].Pointer; p != "" && p[0] == '/' {
			c.Fields[n].Pointer = itemPointer(i) + p
			c.Message = strings.Replace(c.Message, ": "+p+" ", ": "+itemPointer(i)+p+" ", 1) // as ipam.Invalid writes it
		}
	}
	if len(c.Fields) == 0 {
		c.Fields = []ipam.Field{{Pointer: itemPointer(i), Detail: "cannot be served."}}
	}
	return &c
}

// inBatch is inItem, of a batch of n claims, for refusals by a pool or a quota, which the items before this one may have caused.
func inBatch(err error, i, n int) error {
	err = inItem(err, i)
	e, ok := err.(*ipam.Error) //nolint:errorlint // see inItem
	if !ok {
		return err
	}
	switch e.Code {
	case ipam.CodePoolExhausted, ipam.CodeExhaustedByCooldown:
		if i > 0 { // and the sentence is of before the batch, as the figures are
			e.Message = fits(i, n) + e.Message
		}
	case ipam.CodeQuotaExceeded:
		if i > 0 {
			e.Message = fits(i, n) + "Counted up to the next: " + e.Message
		}
	default:
		return err
	}
	e.Figures.Fitting = new(int64(i))
	return err
}

// fits says how many of a batch's claims fit when not all of them do.
func fits(i, n int) string {
	first := "first " + strconv.Itoa(i) + " fit"
	if i == 1 {
		first = "first fits"
	}
	return "The batch does not fit: of its " + strconv.Itoa(n) + " claims the " + first + ", and not the next; nothing was claimed. "
}
