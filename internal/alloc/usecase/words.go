package usecase

import (
	"strconv"
	"strings"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// HiddenName returns a text instead of a pool's name, for a caller that may not see the pool.
func HiddenName(ref ipam.Ref) string { return ref.Project + "/(hidden)" }

// DurationText returns an optional duration in the API's format.
func DurationText(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return ipam.DurationText(*d)
}

// CountOf returns "1 claim", "2 claims" or "2 classes".
func CountOf(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		noun += "e"
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

// NameOf returns a reference as text. For an empty reference, it returns an empty text.
func NameOf(r ipam.Ref) string {
	if r.Name == "" {
		return ""
	}
	return r.String()
}
