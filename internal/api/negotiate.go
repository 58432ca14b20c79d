package api

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/ipam"
)

// negotiate refuses requests whose Accept or Content-Type header does not fit the contract.
func (a *adapter) negotiate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op := operationOf(c)
		if op == nil {
			return next(c)
		}
		r := c.Request()
		if !acceptsResponse(r) && !wantsStream(op, r) {
			return ipam.Errorf(ipam.CodeNotAcceptable, "The response is %s, which the Accept header does not allow.", contract.JSON).
				At("header:Accept", "must allow %s.", contract.JSON)
		}
		if op.MediaType == "" || r.ContentLength == 0 {
			return next(c)
		}
		if err := checkMediaType(r.Header, op.MediaType); err != nil {
			if r.Method == http.MethodPatch {
				c.Response().Header().Set("Accept-Patch", op.MediaType)
			}
			return err
		}
		if r.Header.Get(echo.HeaderContentType) != op.MediaType { // later code compares the media type exactly: lower case, without parameters
			r.Header.Set(echo.HeaderContentType, op.MediaType)
		}
		return next(c)
	}
}

// acceptsResponse reports whether a caller accepts the operation's response. A successful DELETE has no body, so it is enough that the caller accepts
// problem documents. Generated clients accept only application/problem+json for a DELETE.
func acceptsResponse(r *http.Request) bool {
	header := r.Header.Values("Accept")
	return accepts(header, contract.JSON) || r.Method == http.MethodDelete && accepts(header, mimeProblem)
}

// streamOperation is the only operation whose response may take minutes, as a stream or after a wait.
const (
	streamOperation = "listChanges"
	mimeStream      = "text/event-stream"
)

// wantsStream reports whether a request names Server-Sent Events in Accept. */* alone is not enough.
func wantsStream(op *contract.Operation, r *http.Request) bool {
	if op == nil || op.ID != streamOperation {
		return false
	}
	header := r.Header.Values("Accept")
	return strings.Contains(strings.ToLower(strings.Join(header, ",")), mimeStream) && accepts(header, mimeStream)
}

// checkMediaType checks that a body has the media type, is in UTF-8 and has no content encoding.
func checkMediaType(h http.Header, want string) error {
	values := h.Values(echo.HeaderContentType)
	mediaType, params := "", map[string]string(nil)
	switch {
	case len(values) == 1 && values[0] == want: // the usual spelling
		mediaType = want
	case len(values) == 1:
		mediaType, params, _ = mime.ParseMediaType(values[0])
	}
	if charset, ok := params["charset"]; mediaType != want || ok && !strings.EqualFold(charset, "utf-8") {
		return ipam.Errorf(ipam.CodeUnsupportedMediaType, "This operation takes a body of the media type %s, in UTF-8.", want).
			At("header:Content-Type", "must be %s.", want)
	}
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return ipam.Errorf(ipam.CodeUnsupportedMediaType, "This operation does not accept a compressed body.").
			At("header:Content-Encoding", "must be left out.")
	}
	return nil
}

// accepts reports whether an Accept header (RFC 9110, section 12.5.1) admits a media type. The most specific matching range decides, and its q=0
// means that the type is not accepted. A missing header admits everything.
func accepts(header []string, mediaType string) bool {
	if len(header) == 0 || len(header) == 1 && (header[0] == mediaType || header[0] == "*/*") { // the usual spellings
		return true
	}
	ranges := strings.Join(header, ",")
	if strings.TrimSpace(ranges) == "" {
		return true
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	admitted, specific := false, 0
	for element := range strings.SplitSeq(ranges, ",") {
		name, params, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		how := 0
		switch name {
		case "*/*":
			how = 1
		case kind + "/*":
			how = 2
		case mediaType:
			how = 3
		}
		if how <= specific {
			continue
		}
		q, err := strconv.ParseFloat(params["q"], 64)
		admitted, specific = err != nil || q > 0, how
	}
	return admitted
}
