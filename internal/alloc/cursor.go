package alloc

import (
	"encoding/base64"
	"encoding/json"

	"github.com/carve-ipam/carve/internal/ipam"
)

// A cursor is the place where the next page begins: the kind of list and the key of the last row, as JSON in base64. It holds
// no secret and gives no right: a forged one only begins a page of the caller's own list elsewhere.
type cursorBox struct {
	Kind string          `json:"k"`
	At   json.RawMessage `json:"a"`
}

func sealCursor(kind string, at any) string {
	raw, err := json.Marshal(at)
	if err != nil {
		return ""
	}
	box, err := json.Marshal(cursorBox{Kind: kind, At: raw})
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(box)
}

// openCursor reads a cursor of the kind into at; the empty cursor is the beginning and leaves at alone.
func openCursor(cursor, kind string, at any) error {
	if cursor == "" {
		return nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return errBadCursor()
	}
	var box cursorBox
	if json.Unmarshal(raw, &box) != nil || box.Kind != kind || json.Unmarshal(box.At, at) != nil {
		return errBadCursor()
	}
	if name, ok := at.(*string); ok && !ipam.ValidName(*name) {
		return errBadCursor()
	}
	return nil
}

func errBadCursor() error {
	return ipam.Invalid("query:cursor", "is not a cursor of this list; pass nextCursor of the previous page, with the same filters.")
}
