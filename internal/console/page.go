package console

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html/template"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/ipam"
)

// page is the template for pages outside the console, such as an error page.
var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>{{.Title}}</title><style>{{.Style}}</style></head>
<body>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
<p><a href="{{.Link}}">{{.There}}</a></p>
</body>
</html>
`))

// style is the style sheet of these pages. Their policy allows only this style sheet, by its hash.
const style = "body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:12vh auto 0;padding:0 1.5rem}h1{font-size:1.5rem}" +
	"a{color:light-dark(#0b6a81,#5cc4de)}a:focus-visible{outline:2px solid;outline-offset:2px}"

var styled = func() string {
	sum := sha256.Sum256([]byte(style))
	return bare + "; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

type message struct{ Title, Text, Link, There string }

// Style returns the page's style sheet.
func (message) Style() template.CSS { return style }

func show(ec echo.Context, status int, s message) error {
	h := ec.Response().Header()
	h.Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
	h.Set("Content-Security-Policy", styled)
	ec.Response().WriteHeader(status)
	return page.Execute(ec.Response(), s)
}

// statuses maps a failed sign-in's error codes to HTTP statuses.
var statuses = map[ipam.Code]int{
	ipam.CodeInvalidArgument: http.StatusBadRequest, ipam.CodeUnauthenticated: http.StatusUnauthorized, ipam.CodeNotFound: http.StatusNotFound,
	ipam.CodeRateLimited: http.StatusTooManyRequests, ipam.CodeUnavailable: http.StatusServiceUnavailable,
}

// pageOfFailure renders an error of the sign-in as a page instead of JSON, because the browser came here by a link.
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
		log.LogAttrs(ec.Request().Context(), slog.LevelInfo, "a sign-in to the console failed",
			slog.String("code", string(refused.Code)), slog.String("cause", refused.Error()), slog.String("requestId", ec.Response().Header().Get("X-Request-Id")))
		return show(ec, status, message{"You are not signed in", refused.Message, Path, "Back to the console"})
	}
}
