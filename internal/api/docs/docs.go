// Package docs serves Swagger UI from the binary: no network, no CDN, no installation.
//
// It embeds two folders. dist contains files of the npm package swagger-ui-dist, byte for byte (`make swagger-ui` refreshes them, tools/swagger-ui
// pins the version); page contains our own files.
//
// The page handles a caller's credentials, so it may only contact its own origin. The Content-Security-Policy enforces this in the browser, and a
// test fails if the vendored files need more.
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

// policy lets the page load itself, draw the icons that its style sheet contains as data, and call its own origin. Swagger UI works under it, "Try it
// out" included: it needs no inline script, no inline style sheet and no eval.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed dist page
var files embed.FS

// types are fixed because mime.TypeByExtension also reads the host's own tables, and its results differ by host.
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

// Handler serves the page and its files under Path, for the document at specURL, which must have the same origin: the page's policy lets the browser
// fetch nothing else. Requests carry the full path; "/docs" redirects to "/docs/". Clients revalidate by ETag on every visit, since file names do not
// change from one release to the next.
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
		// The zero time omits Last-Modified: an embedded file has none, and the ETag is exact.
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(a.body))
	})
}

// load panics only on a broken build: the files are part of the binary.
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
