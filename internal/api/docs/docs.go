// Package docs serves Swagger UI from the binary. Swagger UI needs no network, no CDN and no installation.
//
// The package embeds two folders. dist contains unchanged files from the npm package swagger-ui-dist. `make swagger-ui` updates them, and
// tools/swagger-ui pins the version. page contains Carve's own files.
//
// The page handles a caller's credentials, so it may only contact its own origin. The Content-Security-Policy enforces this in the browser. A test
// fails if a new Swagger UI needs more.
package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/carve-ipam/carve/internal/api/static"
)

// Path is the path at which the server mounts Handler.
const Path = "/docs/"

// policy is the page's Content-Security-Policy. It allows the page's own files, images in data URLs, which the style sheet contains, and requests to
// the page's origin. Swagger UI works with it, including "Try it out", because it needs no inline script, no inline style sheet and no eval.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed dist page
var files embed.FS

// Site is the page with its files under Path, as an http.Handler. Browsers see all files directly under Path.
type Site struct{ files map[string]*static.File }

// Handler returns the site. specURL is the OpenAPI document's URL. It must have the same origin, because the page's policy allows no other. Requests
// carry the full path, and "/docs" redirects to "/docs/". File names do not change between releases, so clients check the ETag on every visit.
// Handler panics only if the build is broken, because the files are in the binary.
func Handler(specURL string) *Site {
	s := &Site{map[string]*static.File{}}
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := files.ReadFile(file)
		if err != nil {
			return err
		}
		name := path.Base(file)
		if name == "index.html" {
			body = index(string(body), specURL)
		}
		s.files[name] = static.New(name, "no-cache", body)
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("docs: embedded files: %v", err))
	}
	s.files[""] = s.files["index.html"]
	return s
}

// Has reports whether the site serves a URL path. For other paths, the service renders its own 404.
func (s *Site) Has(urlPath string) bool {
	name, inside := strings.CutPrefix(urlPath, Path)
	return urlPath+"/" == Path || inside && s.files[name] != nil
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	case !s.Has(r.URL.Path):
		http.NotFound(w, r)
	case r.URL.Path+"/" == Path:
		http.Redirect(w, r, Path, http.StatusMovedPermanently)
	default:
		s.files[strings.TrimPrefix(r.URL.Path, Path)].ServeHTTP(w, r)
	}
}

func index(text, specURL string) []byte {
	var page bytes.Buffer
	if err := template.Must(template.New("index").Parse(text)).Execute(&page, specURL); err != nil {
		panic(fmt.Sprintf("docs: index page: %v", err))
	}
	return page.Bytes()
}
