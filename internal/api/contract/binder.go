package contract

import (
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"
	"github.com/oapi-codegen/runtime"
)

// Binder binds the value that the validator has checked, or the text that certainly is valid, with names matched exactly, and
// nothing else. The generated handlers would otherwise fall back to encoding/json, which matches names regardless of case: a value that
// was never validated could be bound. So the text is not read by that either, but by jsonv2, to whom names are what they are.
type Binder struct{}

var errNotValidated = errors.New("the body was not validated")

// Bind implements echo.Binder.
func (Binder) Bind(into any, c echo.Context) error {
	if body, ok := c.Request().Body.(*certainBody); ok {
		return jsonv2.Unmarshal(body.data, into)
	}
	body, ok := c.Request().Body.(interface{ ValidatedValue() any })
	if !ok {
		return errNotValidated
	}
	return runtime.BindJSONValue(body.ValidatedValue(), into)
}
