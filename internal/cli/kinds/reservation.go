package kinds

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
)

// parseReservations parses a pool's --reserve flags.
func parseReservations(_ string, parts []string) (any, error) {
	out := []client.Reservation{}
	for _, text := range parts {
		r, err := parseReservation(text)
		if err != nil {
			return nil, exit.Usagef("--reserve %s: %v", text, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// parseReservation parses one --reserve.
func parseReservation(text string) (client.Reservation, error) {
	what, reason, _ := strings.Cut(text, "=")
	r := client.Reservation{Reason: reason}
	if edge, count, found := strings.Cut(what, ":"); found && (edge == "first" || edge == "last") {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return r, fmt.Errorf("%q is not a number of addresses", count)
		}
		if edge == "first" {
			r.First = n
		} else {
			r.Last = n
		}
		return r, nil
	}
	if strings.Contains(what, "/") {
		block, err := netip.ParsePrefix(what)
		if err != nil {
			return r, fmt.Errorf("%q is not a CIDR", what)
		}
		r.CIDR = block.String()
		return r, nil
	}
	from, to, isRange := strings.Cut(what, "-")
	if !isRange {
		to = from
	}
	for _, address := range []string{from, to} {
		if _, err := netip.ParseAddr(address); err != nil {
			return r, fmt.Errorf("%q is not an address; use first:N, last:N, a CIDR, an address or a range from-to", address)
		}
	}
	r.From, r.To = from, to
	return r, nil
}
