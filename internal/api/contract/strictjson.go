package contract

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carve-ipam/carve/internal/api/refuse"
)

// Limits of a JSON body, apart from its size.
const (
	maxDepth  = 64      // nesting of arrays and objects
	maxNumber = 32      // characters of a number
	maxMember = 512     // bytes in the name of a member: error pointers repeat the names, so long names would make errors expensive
	maxTokens = 200_000 // values, names and brackets: a batch of 1,000 claims, the largest useful body, has a tenth of that
)

// checkJSON refuses a body that two parsers could read differently, or that the database cannot store. It returns invalid_argument at the first
// fault. The faults are:
//
//   - text that is not UTF-8
//   - U+0000 in a string or name
//   - a duplicate name, even in another case
//   - text after the value
//   - nesting or numbers beyond the limits
//   - whole numbers with a fraction or an exponent
//
// It uses jsontext because encoding/json is too lenient. encoding/json takes the last of two equal names, replaces invalid UTF-8 and ignores the case
// of names.
func checkJSON(data []byte, most sizes) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return refuse.At("", "is empty; this operation needs a JSON object.")
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	w := jsonWalk{decoder: d, sizes: most}
	for tokens := 0; ; tokens++ {
		token, err := d.ReadToken()
		if err != nil {
			return syntaxError(data, err)
		}
		if tokens == maxTokens {
			return refuse.At("", "has more than %d values, names and brackets; send less in one request.", maxTokens)
		}
		if err := w.check(token); err != nil {
			return err
		}
		if d.StackDepth() == 0 { // the value is complete
			break
		}
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return refuse.At("", "has text after the JSON value; send exactly one value.")
	}
	return nil
}

// jsonWalk checks the tokens of a body. open is the stack of objects and arrays that are not closed yet.
type jsonWalk struct {
	decoder *jsontext.Decoder
	sizes   sizes
	open    []opened
}

// opened is an object or array that is not closed yet.
type opened struct {
	most  int               // maximum number of entries
	free  bool              // whether the caller chooses the names in an object
	names map[string]string // names in an object, by their folded case
}

// check returns the first fault in a token that no valid body has. It counts entries as they arrive, so that it stops right after the limit.
func (w *jsonWalk) check(token jsontext.Token) error {
	kind := token.Kind()
	opens, closes := kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray, kind == jsontext.KindEndObject || kind == jsontext.KindEndArray
	if opens && w.decoder.StackDepth() > maxDepth {
		return w.here("is nested more than %d levels deep.", maxDepth)
	}
	if closes {
		w.open = w.open[:len(w.open)-1]
		return nil
	}
	if err := w.counts(opens); err != nil {
		return err
	}
	switch {
	case opens:
		name := w.decoder.StackPointer().LastToken()
		if len(w.open) > 0 && w.inArray(w.decoder.StackDepth()-1) {
			name = "" // the position in an array is no member name
		}
		w.open = append(w.open, opened{most: w.sizes.most(name), free: kind == jsontext.KindBeginObject && freeNames(name)})
	case kind == jsontext.KindString:
		return w.checkString(token.String())
	case kind == jsontext.KindNumber:
		return w.checkNumber(token.String())
	}
	return nil
}

func (w *jsonWalk) inArray(depth int) bool {
	kind, _ := w.decoder.StackIndex(depth)
	return kind == jsontext.KindBeginArray
}

// counts refuses an entry beyond the limit. In an object, each entry has two tokens: a name and a value.
func (w *jsonWalk) counts(opens bool) error {
	if len(w.open) == 0 {
		return nil
	}
	depth := w.decoder.StackDepth()
	if opens {
		depth-- // StackDepth includes the new object or array; the limit is its parent's
	}
	kind, length := w.decoder.StackIndex(depth)
	if kind == jsontext.KindBeginObject {
		length = (length + 1) / 2
	}
	most := w.open[len(w.open)-1].most
	if length <= int64(most) {
		return nil
	}
	place, many := w.decoder.StackPointer().Parent(), "items"
	if kind == jsontext.KindBeginObject {
		many = "entries"
	}
	return refuse.At(string(place), "must have at most %s.", refuse.Count(uint64(most), "entry", many)) //nolint:gosec // not negative
}

func (w *jsonWalk) checkString(s string) error {
	if strings.ContainsRune(s, 0) {
		return w.here("contains U+0000, which cannot be stored.")
	}
	kind, length := w.decoder.StackIndex(w.decoder.StackDepth())
	if kind != jsontext.KindBeginObject || length%2 == 0 {
		return nil // s is a value: after a name, the number of tokens is odd
	}
	if len(s) > maxMember {
		return refuse.At(string(w.decoder.StackPointer().Parent()), "has a member whose name is %d bytes long; no name is longer than %d.", len(s), maxMember)
	}
	object := &w.open[len(w.open)-1]
	if object.free {
		return nil
	}
	if object.names == nil {
		object.names = map[string]string{}
	}
	folded := fold(s)
	if other, taken := object.names[folded]; taken {
		return w.here("differs from %q in case only; name each member once.", refuse.Clip(other))
	}
	object.names[folded] = s
	return nil
}

// freeNames reports whether the caller chooses the names in the named object. Such names are case sensitive: the keys of labels, annotations and
// parameters, and the roles of scopes.
func freeNames(object string) bool {
	switch object {
	case "labels", "annotations", "matchLabels", "parameters", "scope", "values":
		return true
	default:
		return false
	}
}

// checkNumber accepts numbers that every parser reads as the same value: short and finite ones. It refuses whole numbers such as 24.0 and 2.4e1,
// because a validator accepts them as integers and a decoder does not.
func (w *jsonWalk) checkNumber(s string) error {
	if len(s) > maxNumber {
		return w.here("is a number of more than %d characters.", maxNumber)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return w.here("is a number out of range.")
	}
	if strings.ContainsAny(s, ".eE") && f == math.Trunc(f) {
		return w.here("must be written as a plain integer, without a fraction or an exponent.")
	}
	return nil
}

func (w *jsonWalk) here(format string, args ...any) error {
	return refuse.At(string(w.decoder.StackPointer()), format, args...)
}

// syntaxError returns the error for a body that is not valid JSON.
func syntaxError(data []byte, err error) error {
	pointer, offset := "", int64(len(data))
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		pointer, offset = string(s.JSONPointer), s.ByteOffset
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return refuse.At(pointer, "appears twice; name each member once.")
	case !utf8.Valid(data):
		return refuse.At(pointer, "is not valid UTF-8.")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return refuse.At("", "ends in the middle of the JSON value.")
	default:
		return refuse.At(pointer, "is not valid JSON at byte %d of the body.", offset)
	}
}

// fold returns the same text for all spellings of a name that differ only in case.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}
