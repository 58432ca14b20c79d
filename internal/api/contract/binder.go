package contract

import (
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"
	"github.com/oapi-codegen/runtime"
)

// Binder binds only the value that the validator has checked, or the body that the fast path has accepted. It matches names exactly. Without it, the
// generated handlers would use encoding/json, which ignores the case of names. So they could bind a value that was not validated. A body that passed
// the fast path is decoded by jsonv2, which compares names exactly.
type Binder struct{}

var errNotValidated = errors.New("the body was not validated")

// Bind implements echo.Binder.
func (Binder) Bind(into any, c echo.Context) error {
	if body, ok := c.Request().Body.(*fastBody); ok {
		return jsonv2.Unmarshal(body.data, into)
	}
	body, ok := c.Request().Body.(interface{ ValidatedValue() any })
	if !ok {
		return errNotValidated
	}
	return runtime.BindJSONValue(body.ValidatedValue(), into)
}
