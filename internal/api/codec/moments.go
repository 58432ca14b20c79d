package codec

import (
	"errors"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// FormatMoment is the format of times in the contract.
const FormatMoment = "date-time"

var errNoMoment = errors.New("not a moment")

// Moments validates times in requests. The validator's own format is too lenient. It accepts 31 February and the zone +99:99, which cannot be parsed.
// It accepts the year 0000, which cannot be written in every zone.
var Moments = openapi3.WithStringFormatValidator(FormatMoment, openapi3.NewCallbackValidator(func(text string) error {
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return err
	}
	if year := t.UTC().Year(); year < 1970 || year > 9999 {
		return errNoMoment
	}
	return nil
}))

// MomentSentence is the error text for a time that is not valid.
const MomentSentence = "must be a time from 1970 to 9999 such as 2026-03-02T12:00:00Z; in a query a + is written as %2B."
