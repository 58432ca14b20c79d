package rows

import (
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Address counts are stored as DECIMAL without a fraction, because no integer type can store 2^128, the number of IPv6 addresses.

// Number converts n for the database. nil becomes NULL.
func Number(n *big.Int) pgtype.Numeric { return pgtype.Numeric{Int: n, Valid: n != nil} }

// Addresses converts u's address count for the database. nil becomes 0.
func Addresses(u ipam.Usage) pgtype.Numeric {
	if u.Addresses == nil {
		return Number(new(big.Int))
	}
	return Number(u.Addresses)
}

// numberTo is a scan target for a number. NULL becomes nil.
type numberTo struct{ at **big.Int }

// ScanNumeric implements pgtype.NumericScanner.
func (n numberTo) ScanNumeric(v pgtype.Numeric) (err error) {
	*n.at, err = wholeNumber(v)
	return err
}

func number[R any](name string, at func(*R) **big.Int) column[R] {
	return required(name, func(r *R) *numberTo { return &numberTo{at(r)} }, func(r *R) pgtype.Numeric { return Addresses(ipam.Usage{Addresses: *at(r)}) })
}

// nullableNumber returns a number column in which nil is NULL.
func nullableNumber[R any](name string, at func(*R) **big.Int) column[R] {
	return required(name, func(r *R) *numberTo { return &numberTo{at(r)} }, func(r *R) pgtype.Numeric { return Number(*at(r)) })
}

// wholeNumber converts a stored number exactly. NULL becomes nil, and a number with a fraction is an error.
func wholeNumber(n pgtype.Numeric) (*big.Int, error) {
	if !n.Valid {
		return nil, nil //nolint:nilnil // NULL: there is no number
	}
	if n.NaN || n.InfinityModifier != pgtype.Finite {
		return nil, fmt.Errorf("stored number is not finite")
	}
	out := new(big.Int).Set(n.Int)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n.Exp, -n.Exp))), nil)
	if n.Exp >= 0 {
		out.Mul(out, scale)
	} else if _, rest := out.QuoRem(out, scale, new(big.Int)); rest.Sign() != 0 {
		return nil, fmt.Errorf("stored number has a fraction")
	}
	if out.Sign() == 0 {
		return new(big.Int), nil // zero always has the same form, so that values can be compared
	}
	return out, nil
}
