// Package docs serves Swagger UI from the binary. Swagger UI needs no network, no CDN and no installation.
//
// It embeds two folders. dist contains files of the npm package swagger-ui-dist without changes. `make swagger-ui` updates them, and tools/swagger-ui
// pins the version. page contains Carve's own files.
//
// The page handles the credentials of a caller, so it may only contact its own origin. The Content-Security-Policy enforces this in the browser. A
// test fails if a new version of Swagger UI needs more.
package docs

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Path is the path at which the server mounts Handler.
const Path = "/docs/"

// policy is the Content-Security-Policy of the page. It allows the page's own files, images in data URLs, which the style sheet contains, and
// requests to the page's origin. Swagger UI works with it, including "Try it out", because it needs no inline script, no inline style sheet and no
// eval.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed dist page
var files embed.FS

// types is a fixed table, because the results of mime.TypeByExtension depend on the host.
var types = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".png":  "image/png",
	".txt":  "text/plain; charset=utf-8",
	"":      "text/plain; charset=utf-8", // LICENSE, NOTICE
}

type asset struct {
	body        []byte
	contentType string
	etag        string
}

// Handler serves the page and its files under Path. specURL is the URL of the OpenAPI document. It must have the same origin, because the page's
// policy allows no other. Requests carry the full path, and "/docs" redirects to "/docs/". File names do not change between releases, so clients
// check the ETag on every visit.
func Handler(specURL string) http.Handler {
	assets := load(specURL)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		name, inside := strings.CutPrefix(r.URL.Path, Path)
		if !inside && r.URL.Path+"/" == Path {
			http.Redirect(w, r, Path, http.StatusMovedPermanently)
			return
		}
		if inside && name == "" {
			name = "index.html"
		}
		a, ok := assets[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		h.Set("Content-Type", a.contentType)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", a.etag)
		// The zero time omits Last-Modified, because an embedded file has no time. The ETag is exact.
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(a.body))
	})
}

// load returns the files by name. It panics only if the build is broken, because the files are part of the binary.
func load(specURL string) map[string]asset {
	assets := map[string]asset{}
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
		kind, known := types[path.Ext(name)]
		if !known {
			return fmt.Errorf("no content type for %s", file)
		}
		sum := sha256.Sum256(body)
		assets[name] = asset{body: body, contentType: kind, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("docs: embedded files: %v", err))
	}
	return assets
}

func index(text, specURL string) []byte {
	var page bytes.Buffer
	if err := template.Must(template.New("index").Parse(text)).Execute(&page, specURL); err != nil {
		panic(fmt.Sprintf("docs: index page: %v", err))
	}
	return page.Bytes()
}
