package paging

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"reflect"

	"github.com/carve-ipam/carve/internal/ipam"
)

// List is what a cursor is a place in: the kind of list, and what it is a list of: whose, and by which filters. A cursor of another one is
// refused, since a page of it would look like one of this and leave out what neither of them has shown.
type List struct {
	Kind string
	Of   []any // nil: cursors are not bound
}

// ListOf is a list of a kind, of what it is a list of.
func ListOf(kind string, of ...any) List { return List{Kind: kind, Of: of} }

// owner is whose list it is, or what it is a list of; zero when it is that of all projects.
func (l List) owner() ipam.ID {
	if len(l.Of) > 0 {
		if id, is := l.Of[0].(ipam.ID); is {
			return id
		}
	}
	return ipam.ID{}
}

// binding is a hash of what the list is of; "" when it is not bound.
func (l List) binding() (string, error) {
	if l.Of == nil {
		return "", nil
	}
	of, err := json.Marshal(l.Of)
	sum := sha256.Sum256(of)
	return base64.RawURLEncoding.EncodeToString(sum[:9]), err
}

// A cursor is the place where the next page begins: the list, and the key of the last row, as JSON in base64. It holds no secret and gives
// no right: a forged one only begins a page of the caller's own list elsewhere.
//
// There were servers that neither made nor looked at the binding. So it is no part of the kind, which they compare, and a cursor without it
// is taken: a list goes on while servers of two versions stand side by side.
type cursorBox struct {
	Kind    string          `json:"k"`
	Binding string          `json:"b,omitempty"`
	At      json.RawMessage `json:"a"`
}

// SealCursor makes the cursor for a place in a list; "" when that cannot be written down.
func SealCursor(l List, at any) string {
	raw, err := json.Marshal(at)
	if err != nil {
		return ""
	}
	binding, err := l.binding()
	if err != nil {
		return ""
	}
	box, err := json.Marshal(cursorBox{Kind: l.Kind, Binding: binding, At: raw})
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(box)
}

// OpenCursor reads a cursor of the list into at; the empty cursor is the beginning and leaves at alone.
func OpenCursor(cursor string, l List, at any) error {
	if cursor == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return ErrBadCursor()
	}
	var box cursorBox
	if strictly(raw, &box) != nil || box.Kind != l.Kind || strictly(box.At, at) != nil || reflect.ValueOf(at).Elem().IsZero() {
		return ErrBadCursor()
	}
	if binding, err := l.binding(); err != nil || (box.Binding != "" && box.Binding != binding) {
		return ErrBadCursor()
	}
	if name, ok := at.(*string); ok && !ipam.ValidName(*name) {
		return ErrBadCursor()
	}
	return nil
}

// strictly decodes one JSON value with nothing in it, or after it, that was not asked for.
func strictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return ErrBadCursor()
	}
	return nil
}

// ErrBadCursor refuses what is no cursor of the list.
func ErrBadCursor() error {
	return ipam.Invalid("query:cursor", "is not a cursor of this list; pass nextCursor of the previous page, with the same filters.")
}
