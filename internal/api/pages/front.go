// Package pages serves what is not of the contract: where all else is, the contract itself, and what each code of a refusal means.
package pages

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// front is what is at /, which is not of the contract: where all else is. It does not say which build answers; that needs credentials.
type front struct {
	Name     string `json:"name"`
	Contract string `json:"contract"`
	Docs     string `json:"docs"`
	Problems string `json:"problems"`
	Version  string `json:"version"`
	Health   string `json:"health"`
	Ready    string `json:"ready"`
}

// Front takes a browser to the documentation, and tells everybody else where things are.
func Front(c echo.Context) error {
	varies(c)
	if forBrowser(c) {
		return c.Redirect(http.StatusSeeOther, "/docs/")
	}
	return c.JSON(http.StatusOK, front{
		Name: "Carve", Contract: "/openapi.yaml", Docs: "/docs/", Problems: "/problems", Version: "/v1/version", Health: "/healthz", Ready: "/readyz",
	})
}

const mimeMarkdown = "text/markdown; charset=utf-8"

// forBrowser reports whether the caller shows HTML.
func forBrowser(c echo.Context) bool {
	return strings.Contains(c.Request().Header.Get("Accept"), "text/html")
}

// varies says that an answer is not the same for everybody, and may be of another build soon.
func varies(c echo.Context) {
	h := c.Response().Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept")
}
