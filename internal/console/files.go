package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// Path is the path of the console.
const Path = "/console/"

const (
	index    = "index.html"
	assets   = "assets/"
	smallest = 1024 // minimum size for compression, in bytes
)

// Content security policies. policy is for the console, which loads its own files and calls its own server. bare is for all other responses.
const (
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	bare = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// kinds is a fixed table, because the results of mime.TypeByExtension depend on the host.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".ico": "image/x-icon", ".js": "text/javascript; charset=utf-8",
	".json": "application/json", ".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json", ".woff2": "font/woff2",
}

// hashed matches the names of files that contain a hash of their content. The build makes such names.
var hashed = regexp.MustCompile(`-[0-9A-Za-z_-]{8}\.\w+$`)

// file is one of the console's files.
type file struct {
	kind, caching, etag string
	body                []byte
	compressed          func() []byte // nil: sent uncompressed
}

// load reads the files. It panics only if the build is broken.
func load(from fs.FS) map[string]*file {
	files := map[string]*file{}
	err := fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		body, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		kind, known := kinds[path.Ext(name)]
		if !known {
			return fmt.Errorf("no content type for %s", name)
		}
		sum := sha256.Sum256(body)
		f := &file{kind: kind, body: body, etag: hex.EncodeToString(sum[:16]), caching: "no-cache"}
		switch {
		case name == index:
			f.caching = "no-store"
		case hashed.MatchString(name):
			f.caching = "public, max-age=31536000, immutable"
		}
		if text := strings.HasPrefix(kind, "text/") || strings.HasPrefix(kind, "application/") || kind == "image/svg+xml"; text && len(body) >= smallest {
			f.compressed = sync.OnceValue(func() []byte { return compress(body) })
		}
		files[name] = f
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("console: embedded files: %v", err))
	}
	return files
}

func compress(body []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // it fails only for an invalid level
	_, _ = w.Write(body)                                    // a buffer never fails
	_ = w.Close()
	return out.Bytes()
}

// serve sends a file. For a path that is no file, it sends the console's page, because the page has routes of its own.
func (c *Console) serve(ec echo.Context) error {
	name := strings.TrimPrefix(ec.Request().URL.Path, Path)
	if !c.There() {
		return show(ec, http.StatusNotFound, message{
			"This build has no console", "This server was built without the console. Run make console, which needs Node, and then build the server. The API works without it.",
			"/", "Start page",
		})
	}
	f, ok := c.files[name]
	if !ok && strings.HasPrefix(name, assets) {
		return echo.ErrNotFound // a file of another build; the page must not be sent as a script
	}
	if !ok {
		f = c.files[index]
	}
	f.send(ec)
	return nil
}

func (f *file) send(ec echo.Context) {
	h, body, etag := ec.Response().Header(), f.body, f.etag
	if f.compressed != nil {
		h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
		if accepts(ec.Request().Header) {
			body, etag = f.compressed(), etag+"-gzip"
			h.Set(echo.HeaderContentEncoding, "gzip")
		}
	}
	h.Set(echo.HeaderContentType, f.kind)
	h.Set("Cache-Control", f.caching)
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(ec.Response(), ec.Request(), "", time.Time{}, bytes.NewReader(body))
}

// accepts reports whether a browser accepts gzip. All browsers do. If a client adds a quality value to gzip, it gets the uncompressed file.
func accepts(h http.Header) bool {
	for each := range strings.SplitSeq(h.Get(echo.HeaderAcceptEncoding), ",") {
		if strings.EqualFold(strings.TrimSpace(each), "gzip") {
			return true
		}
	}
	return false
}
