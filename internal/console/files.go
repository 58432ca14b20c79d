package console

import (
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/static"
)

// Path is the console's path.
const Path = "/console/"

const (
	index  = "index.html"
	assets = "assets/"
)

// Content security policies. policy is for the console, which loads its own files and calls its own server. bare is for all other responses.
const (
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	bare = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// hashedName matches file names that contain a hash of the content. The build makes such names.
var hashedName = regexp.MustCompile(`-[0-9A-Za-z_-]{8}\.\w+$`)

// load reads the files. It panics only if the build is broken.
func load(from fs.FS) map[string]*static.File {
	files := map[string]*static.File{}
	err := fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		body, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		caching := "no-cache"
		switch {
		case name == index:
			caching = "no-store"
		case hashedName.MatchString(name):
			caching = "public, max-age=31536000, immutable"
		}
		files[name] = static.New(name, caching, body).Compressed()
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("console: embedded files: %v", err))
	}
	return files
}

// serve sends a file. For a path that is no file, it sends the console's page, because the page has its own routes.
func (c *Console) serve(ec echo.Context) error {
	name := strings.TrimPrefix(ec.Request().URL.Path, Path)
	if !c.Included() {
		return show(ec, http.StatusNotFound, message{
			"This build has no console", "This server was built without the console. Run make console, which needs Node, and then build the server. The API works without it.",
			"/", "Start page",
		})
	}
	f, ok := c.files[name]
	if !ok && strings.HasPrefix(name, assets) {
		return echo.ErrNotFound // a file from another build; the page must not be sent as a script
	}
	if !ok {
		f = c.files[index]
	}
	f.ServeHTTP(ec.Response(), ec.Request())
	return nil
}
