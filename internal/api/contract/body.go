package contract

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Limits on a JSON body, apart from its size.
const (
	maxDepth  = 64      // nested arrays and objects
	maxNumber = 32      // characters in a number
	maxMember = 512     // bytes in a member's name: error pointers repeat the names, so long names would make errors expensive
	maxTokens = 200_000 // values, names and brackets: a batch of 1,000 claims, the largest useful body, has a tenth of that
)

// checkBody checks a body by its schema and returns the faults, in the body's order. It stops after refuse.MaxFields faults, and at the first entry
// beyond a limit.
//
// It returns an error for a body that two parsers could read differently, or that the database cannot store. Such a body is not exactly one JSON
// value in UTF-8, or it contains a duplicate name, U+0000, a whole number with a fraction or an exponent, or nesting or numbers beyond the limits.
func (k *Contract) checkBody(s *openapi3.Schema, data []byte) ([]ipam.Field, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, refuse.At("", "is empty; this operation needs a JSON object.")
	}
	w := walk{Decoder: jsontext.NewDecoder(bytes.NewBuffer(data)), contract: k}
	err := w.value(s)
	if err == nil {
		if _, err = w.ReadToken(); errors.Is(err, io.EOF) {
			return w.fields, nil
		}
		return nil, refuse.At("", "has text after the JSON value; send exactly one value.")
	}
	if errors.Is(err, errEnough) {
		return w.fields, nil
	}
	if _, ok := errors.AsType[*ipam.Error](err); ok {
		return nil, err
	}
	return nil, syntaxError(data, err)
}

// errEnough ends a walk that has found enough faults.
var errEnough = errors.New("enough faults")

// walk checks a body's values while it reads them.
type walk struct {
	*jsontext.Decoder

	contract *Contract
	fields   []ipam.Field
	tokens   int
	text     []byte // the last string, unquoted, or the characters of the last number
}

// next reads a token and makes all checks that do not depend on the schema.
func (w *walk) next() (jsontext.Kind, error) {
	if w.tokens++; w.tokens > maxTokens {
		return 0, refuse.At("", "has more than %d values, names and brackets; send less in one request.", maxTokens)
	}
	kind := w.PeekKind()
	switch kind {
	case jsontext.KindBeginObject, jsontext.KindBeginArray, jsontext.KindEndObject, jsontext.KindEndArray:
		_, err := w.ReadToken()
		if err == nil && w.StackDepth() > maxDepth {
			err = w.faultHere("is nested more than %d levels deep.", maxDepth)
		}
		return kind, err
	default:
	}
	var err error
	if w.text, err = w.ReadValue(); err != nil {
		return kind, err
	}
	switch kind {
	case jsontext.KindString:
		raw := w.text
		if w.text = raw[1 : len(raw)-1]; bytes.IndexByte(w.text, '\\') >= 0 {
			if w.text, err = jsontext.AppendUnquote(nil, raw); err != nil {
				return kind, err
			}
		}
		if bytes.IndexByte(w.text, 0) >= 0 {
			return kind, w.faultHere("contains U+0000, which cannot be stored.")
		}
	case jsontext.KindNumber:
		if len(w.text) > maxNumber {
			return kind, w.faultHere("is a number of more than %d characters.", maxNumber)
		}
		f, err := strconv.ParseFloat(string(w.text), 64)
		switch {
		case err != nil:
			return kind, w.faultHere("is a number out of range.")
		case bytes.ContainsAny(w.text, ".eE") && f == math.Trunc(f):
			// A validator would accept 24.0 as an integer, and a decoder would not.
			return kind, w.faultHere("must be written as a plain integer, without a fraction or an exponent.")
		}
	default:
	}
	return kind, nil
}

// faultHere returns the error for a fault at the last token.
func (w *walk) faultHere(format string, args ...any) error {
	return refuse.At(string(w.StackPointer()), format, args...)
}

// add records a fault at the last token. It returns errEnough if the walk has then found enough faults.
func (w *walk) add(fault string) error { return w.addAt(w.StackPointer(), fault) }

func (w *walk) addAt(pointer jsontext.Pointer, fault string) error {
	w.fields = append(w.fields, ipam.Field{Pointer: refuse.Clip(string(pointer)), Detail: fault})
	if len(w.fields) > refuse.MaxFields {
		return errEnough
	}
	return nil
}

// value reads a value.
func (w *walk) value(s *openapi3.Schema) error {
	kind, err := w.next()
	if err != nil {
		return err
	}
	if fault := w.contract.fault(s, kind, w.text); fault != "" {
		if err := w.add(fault); err != nil {
			return err
		}
		s = anyValue
	}
	switch kind {
	case jsontext.KindBeginObject:
		return w.object(s)
	case jsontext.KindBeginArray:
		return w.array(s)
	default:
		return nil
	}
}

// array reads an array's items and its end.
func (w *walk) array(s *openapi3.Schema) error {
	var given []string // only for items that must differ
	repeats, count := false, uint64(0)
	for ; w.PeekKind() != jsontext.KindEndArray; count++ {
		if s.MaxItems != nil && count == *s.MaxItems {
			return errors.Join(w.addAt(w.StackPointer().Parent(), entriesFault(s, count+1)), errEnough)
		}
		if err := w.value(resolve(s.Items)); err != nil {
			return err
		}
		if s.UniqueItems {
			repeats = repeats || slices.Contains(given, string(w.text))
			given = append(given, string(w.text))
		}
	}
	if _, err := w.next(); err != nil {
		return err
	}
	if repeats {
		return w.add("must not repeat an item.")
	}
	return w.countEntries(s, count)
}

func (w *walk) countEntries(s *openapi3.Schema, count uint64) error {
	if fault := entriesFault(s, count); fault != "" {
		return w.add(fault)
	}
	return nil
}

// object reads an object's members and its end.
func (w *walk) object(s *openapi3.Schema) error {
	var given []*openapi3.SchemaRef
	count := uint64(0)
	for ; w.PeekKind() != jsontext.KindEndObject; count++ {
		if s.MaxProps != nil && count == *s.MaxProps {
			return errors.Join(w.addAt(w.StackPointer().Parent(), entriesFault(s, count+1)), errEnough)
		}
		if _, err := w.next(); err != nil {
			return err
		}
		if len(w.text) > maxMember {
			return refuse.At(string(w.StackPointer().Parent()), "has a member whose name is %d bytes long; no name is longer than %d.", len(w.text), maxMember)
		}
		member := s.Properties[string(w.text)]
		switch {
		case member != nil:
			given = append(given, member)
		case s.AdditionalProperties.Schema != nil:
			member = s.AdditionalProperties.Schema
		case s.AdditionalProperties.Has != nil && !*s.AdditionalProperties.Has:
			if err := w.add(w.contract.unknownSentence(string(w.StackPointer().Parent()), string(w.text), s)); err != nil {
				return err
			}
		}
		if err := w.value(resolve(member)); err != nil {
			return err
		}
	}
	if _, err := w.next(); err != nil {
		return err
	}
	for _, name := range s.Required {
		if !slices.Contains(given, s.Properties[name]) {
			if err := w.addAt(w.StackPointer().AppendToken(name), "is required."); err != nil {
				return err
			}
		}
	}
	return w.countEntries(s, count)
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
