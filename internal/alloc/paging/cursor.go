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

// List identifies the list that a cursor belongs to, by its kind, owner and filters. OpenCursor refuses another list's cursor. With such a cursor,
// the page would look valid but skip rows.
type List struct {
	Kind  string
	Scope []any // the owner and the filters; nil: OpenCursor does not compare them
}

// ListOf makes a List. scope contains the owner and the filters.
func ListOf(kind string, scope ...any) List { return List{Kind: kind, Scope: scope} }

// owner returns the project or resource that owns the list. It returns zero for a list over all projects.
func (l List) owner() ipam.ID {
	if len(l.Scope) > 0 {
		if id, is := l.Scope[0].(ipam.ID); is {
			return id
		}
	}
	return ipam.ID{}
}

// binding returns a hash over the owner and the filters, which binds a cursor to its list. The hash is "" if Scope is nil.
func (l List) binding() (string, error) {
	if l.Scope == nil {
		return "", nil
	}
	of, err := json.Marshal(l.Scope)
	sum := sha256.Sum256(of)
	return base64.RawURLEncoding.EncodeToString(sum[:9]), err
}

// cursorBox is a cursor's content. The cursor itself is the content's JSON in base64. It names the list and the last row's key, after which the next
// page begins. It contains no secret and gives no rights. A forged cursor only starts a page of the caller's own list at another row.
//
// Older servers neither make nor check the binding, but they compare the kind. So the binding is not part of the kind, and a cursor without a binding
// is valid. A client can therefore continue a list while servers with two versions run side by side.
type cursorBox struct {
	Kind    string          `json:"k"`
	Binding string          `json:"b,omitempty"`
	At      json.RawMessage `json:"a"`
}

// SealCursor returns the cursor for a position in a list. It returns "" if the position cannot be encoded.
func SealCursor(l List, position any) string {
	raw, err := json.Marshal(position)
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

// OpenCursor decodes the list's cursor into the variable to which position points. An empty cursor means the list's beginning, and OpenCursor then
// does not change this variable.
func OpenCursor(cursor string, l List, position any) error {
	if cursor == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return ErrBadCursor()
	}
	var box cursorBox
	if decodeStrictly(raw, &box) != nil || box.Kind != l.Kind || decodeStrictly(box.At, position) != nil || reflect.ValueOf(position).Elem().IsZero() {
		return ErrBadCursor()
	}
	if binding, err := l.binding(); err != nil || (box.Binding != "" && box.Binding != binding) {
		return ErrBadCursor()
	}
	if name, ok := position.(*string); ok && !ipam.ValidName(*name) {
		return ErrBadCursor()
	}
	return nil
}

// decodeStrictly decodes one JSON value, and refuses unknown fields and trailing data.
func decodeStrictly(data []byte, into any) error {
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
