package contract

import (
	"errors"
	"io"
	"net/http"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Check checks a request to the operation and its body. It returns invalid_argument with all faults, up to refuse.MaxFields. If the body is not
// strict JSON, it returns only this fault. It keeps the body for Binder.
func (op *Operation) Check(c echo.Context, body []byte) error {
	var faults []ipam.Field
	if op.body != nil {
		var err error
		if faults, err = op.contract.checkBody(op.body, body); err != nil {
			return err
		}
		c.Request().Body = checkedBody{http.NoBody, body}
	}
	fields, err := op.checkParameters(c)
	if err != nil {
		return err
	}
	fields = append(fields, faults...)
	if len(fields) > 0 {
		return refuse.Invalid(fields)
	}
	return nil
}

// checkedBody is a body that Check has accepted.
type checkedBody struct {
	io.ReadCloser
	data []byte
}

// Binder binds only a body that Check has accepted. It matches names exactly. Without it, the generated handlers would use encoding/json, which
// ignores case in names. So they could bind a value that was not checked.
type Binder struct{}

var errNotChecked = errors.New("the body was not checked")

// Bind implements echo.Binder.
func (Binder) Bind(into any, c echo.Context) error {
	body, ok := c.Request().Body.(checkedBody)
	if !ok {
		return errNotChecked
	}
	return jsonv2.Unmarshal(body.data, into)
}
