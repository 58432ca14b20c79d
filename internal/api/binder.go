package api

import (
	"errors"

	"github.com/labstack/echo/v4"
	"github.com/oapi-codegen/runtime"
)

// validatedBinder binds the value that the validator has checked, with names matched exactly, and nothing else. The
// generated handlers would otherwise fall back to encoding/json, which matches names regardless of case: a value that
// was never validated could be bound.
type validatedBinder struct{}

var errNotValidated = errors.New("the body was not validated")

// Bind implements echo.Binder.
func (validatedBinder) Bind(into any, c echo.Context) error {
	body, ok := c.Request().Body.(interface{ ValidatedValue() any })
	if !ok {
		return errNotValidated
	}
	return runtime.BindJSONValue(body.ValidatedValue(), into)
}
