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

// List identifies the list of a cursor: its kind, its owner and its filters. A cursor of another list is refused, because its page would look valid
// and skip rows.
type List struct {
	Kind string
	Of   []any // nil: cursors have no binding
}

// ListOf makes a List; of has the owner and the filters.
func ListOf(kind string, of ...any) List { return List{Kind: kind, Of: of} }

// owner returns the project or resource that owns the list; zero for a list over all projects.
func (l List) owner() ipam.ID {
	if len(l.Of) > 0 {
		if id, is := l.Of[0].(ipam.ID); is {
			return id
		}
	}
	return ipam.ID{}
}

// binding returns a hash of the owner and filters; "" if cursors have no binding.
func (l List) binding() (string, error) {
	if l.Of == nil {
		return "", nil
	}
	of, err := json.Marshal(l.Of)
	sum := sha256.Sum256(of)
	return base64.RawURLEncoding.EncodeToString(sum[:9]), err
}

// cursorBox is a cursor: the position where the next page begins, as the list and the key of the last row, in JSON and base64. It has no secret and
// gives no right: a forged one only starts a page of the caller's own list elsewhere.
//
// Older servers neither make nor check the binding. Therefore it is not part of the kind, which they compare, and a cursor without it is valid: a
// list continues while servers of two versions run side by side.
type cursorBox struct {
	Kind    string          `json:"k"`
	Binding string          `json:"b,omitempty"`
	At      json.RawMessage `json:"a"`
}

// SealCursor returns the cursor for a position in a list; "" if it cannot be encoded.
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

// OpenCursor decodes a cursor of the list into at. For an empty cursor, the beginning, it does not change at.
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

// strictly decodes one JSON value, and refuses unknown fields and trailing data.
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

// ErrBadCursor is the error for an invalid cursor.
func ErrBadCursor() error {
	return ipam.Invalid("query:cursor", "is not a cursor of this list; pass nextCursor of the previous page, with the same filters.")
}
