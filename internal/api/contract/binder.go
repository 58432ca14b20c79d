package contract

import (
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"
	"github.com/oapi-codegen/runtime"
)

// Binder binds only the value that the validator has checked, or the body that passed the fast path, and matches names exactly. The generated
// handlers would otherwise fall back to encoding/json, which ignores the case of names and so could bind a value that was not validated. The fast
// path's body is therefore decoded by jsonv2, which compares names exactly.
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
