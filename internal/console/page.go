package console

import (
	"errors"
	"html/template"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/ipam"
)

// page is what people are told where there is no console to tell it.
var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>{{.Title}}</title></head>
<body>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
<p><a href="{{.Link}}">{{.There}}</a></p>
</body>
</html>
`))

type said struct{ Title, Text, Link, There string }

func show(ec echo.Context, status int, s said) error {
	h := ec.Response().Header()
	h.Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
	ec.Response().WriteHeader(status)
	return page.Execute(ec.Response(), s)
}

// statuses of what can go wrong while somebody signs in at an issuer.
var statuses = map[ipam.Code]int{
	ipam.CodeInvalidArgument: http.StatusBadRequest, ipam.CodeUnauthenticated: http.StatusUnauthorized, ipam.CodeNotFound: http.StatusNotFound,
	ipam.CodeRateLimited: http.StatusTooManyRequests, ipam.CodeUnavailable: http.StatusServiceUnavailable,
}

// pageOfFailure tells people what went wrong, who have come here by a link and not by a program.
func pageOfFailure(log *slog.Logger, next echo.HandlerFunc) echo.HandlerFunc {
	return func(ec echo.Context) error {
		err := next(ec)
		refused, ok := errors.AsType[*ipam.Error](err)
		if !ok {
			return err
		}
		status, ok := statuses[refused.Code]
		if !ok {
			return err
		}
		log.LogAttrs(ec.Request().Context(), slog.LevelInfo, "somebody could not sign in to the console",
			slog.String("code", string(refused.Code)), slog.String("cause", refused.Error()), slog.String("requestId", ec.Response().Header().Get("X-Request-Id")))
		return show(ec, status, said{"You are not signed in", refused.Message, Path, "Back to the console"})
	}
}
