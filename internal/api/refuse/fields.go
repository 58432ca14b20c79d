package refuse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
)

// MaxFields limits the fields in one error.
const MaxFields = 20

// Invalid returns invalid_argument for some fields. It keeps the first error for each pointer, and at most MaxFields fields.
func Invalid(fields []ipam.Field) *ipam.Error {
	seen := map[string]bool{}
	fields = slices.DeleteFunc(slices.Clone(fields), func(f ipam.Field) bool {
		again := seen[f.Pointer]
		seen[f.Pointer] = true
		return again
	})
	first := fields[0].Pointer
	if first == "" {
		first = "the body"
	}
	message := "The request is not valid: " + first + " " + fields[0].Detail
	if len(fields) > 1 {
		message += " More fields are wrong; see errors."
	}
	e := ipam.Errorf(ipam.CodeInvalidArgument, "%s", message)
	e.Fields = fields[:min(len(fields), MaxFields)]
	return e
}

// Clip shortens a text from the caller before the response repeats it.
func Clip(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// Count returns a number with its noun, such as 1 entry or 2 entries.
func Count(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatUint(n, 10) + " " + many
}

// DurationSentence is the error text for a duration that is not valid.
const DurationSentence = "must be a duration in whole hours, minutes and seconds, such as 72h or 1h30m."

// At returns invalid_argument for one field in the body.
func At(pointer, format string, args ...any) error {
	return Invalid([]ipam.Field{{Pointer: Clip(pointer), Detail: fmt.Sprintf(format, args...)}})
}
