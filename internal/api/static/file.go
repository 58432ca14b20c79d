// Package static serves files that the binary contains.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// types is a fixed table, because mime.TypeByExtension depends on the host.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".ico": "image/x-icon", ".js": "text/javascript; charset=utf-8",
	".json": "application/json", ".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json", ".woff2": "font/woff2", ".yaml": "application/yaml",
	"": "text/plain; charset=utf-8", // LICENSE, NOTICE
}

// minCompressed is the minimum size of a compressed file, in bytes.
const minCompressed = 1024

// File is a file in the binary. It changes only with the binary.
type File struct {
	kind, caching, etag string
	body                []byte
	compressed          func() []byte // nil: sent uncompressed
}

// New returns a file. The name's extension selects the content type, and caching is its Cache-Control header. It panics for an unknown extension,
// which means that the build is broken.
func New(name, caching string, body []byte) *File {
	kind, known := types[path.Ext(name)]
	if !known {
		panic("static: no content type for " + name)
	}
	sum := sha256.Sum256(body)
	return &File{kind: kind, caching: caching, etag: hex.EncodeToString(sum[:16]), body: body}
}

// Compressed lets the server send the file with gzip to clients that accept it, and returns the file. Small files and images stay uncompressed.
func (f *File) Compressed() *File {
	if text := strings.HasPrefix(f.kind, "text/") || strings.HasPrefix(f.kind, "application/") || f.kind == types[".svg"]; text && len(f.body) >= minCompressed {
		f.compressed = sync.OnceValue(func() []byte { return compress(f.body) })
	}
	return f
}

func compress(body []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // it fails only for an invalid level
	_, _ = w.Write(body)                                    // a buffer never fails
	_ = w.Close()
	return out.Bytes()
}

// ServeHTTP implements http.Handler. The ETag replaces Last-Modified, because a file in the binary has no time.
func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, body, etag := w.Header(), f.body, f.etag
	if f.compressed != nil {
		h.Set("Vary", "Accept-Encoding")
		if accepts(r.Header) {
			body, etag = f.compressed(), etag+"-gzip"
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", f.caching)
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// accepts reports whether a client accepts gzip, as all browsers do. A client that adds a quality value to gzip receives the uncompressed file.
func accepts(h http.Header) bool {
	for coding := range strings.SplitSeq(h.Get("Accept-Encoding"), ",") {
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			return true
		}
	}
	return false
}
