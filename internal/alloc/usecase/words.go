package usecase

import (
	"strconv"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// HiddenName is how a pool is named to somebody who may not see it.
func HiddenName(ref ipam.Ref) string { return ref.Project + "/(hidden)" }

// DurationText is a time that may be left out, as callers write it.
func DurationText(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return ipam.DurationText(*d)
}

// CountOf says "1 claim" or "2 claims".
func CountOf(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// NameOf is a reference as it is written; "" for none.
func NameOf(r ipam.Ref) string {
	if r.Name == "" {
		return ""
	}
	return r.String()
}
