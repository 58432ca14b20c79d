package crdb

import (
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Numbers of addresses are DECIMAL without a fraction: 2^128 of IPv6 are more than any integer type holds.

// decimal is a number as it is written; nil is NULL.
func decimal(n *big.Int) pgtype.Numeric {
	return pgtype.Numeric{Int: n, Valid: n != nil}
}

// addresses is a number of addresses as it is written; nil is 0.
func addresses(u ipam.Usage) pgtype.Numeric {
	if u.Addresses == nil {
		return decimal(new(big.Int))
	}
	return decimal(u.Addresses)
}

// whole is a number that was read, exactly; NULL is nil.
func whole(n pgtype.Numeric) (*big.Int, error) {
	if !n.Valid {
		return nil, nil //nolint:nilnil // NULL: there is no number
	}
	if n.NaN || n.InfinityModifier != pgtype.Finite {
		return nil, fmt.Errorf("stored number is not finite")
	}
	out := new(big.Int).Set(n.Int)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n.Exp, -n.Exp))), nil)
	if n.Exp >= 0 {
		return out.Mul(out, scale), nil
	}
	rest := new(big.Int)
	if out.QuoRem(out, scale, rest); rest.Sign() != 0 {
		return nil, fmt.Errorf("stored number has a fraction")
	}
	return out, nil
}

// wholes reads several numbers that cannot be NULL.
func wholes(from []pgtype.Numeric, into ...**big.Int) error {
	for i, n := range from {
		v, err := whole(n)
		if err != nil {
			return err
		}
		if v == nil || v.Sign() == 0 {
			v = new(big.Int) // one zero, however it came about
		}
		*into[i] = v
	}
	return nil
}
