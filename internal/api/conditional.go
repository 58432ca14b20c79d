package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/contract"
	"github.com/carve-ipam/carve/internal/ipam"
)

// etag returns a revision's entity tag.
func etag(revision ipam.ID) string {
	var b [38]byte
	return string(append(revision.AppendTo(append(b[:0], '"')), '"'))
}

// requiredMatch reads a patch's If-Match header. If-Match is required, because otherwise two callers could overwrite each other's changes.
func requiredMatch(header *string) (m usecase.Match, err error) {
	if header == nil {
		return m, ipam.Errorf(ipam.CodePreconditionRequired,
			"A patch needs If-Match with the ETag that it is based on. Read the resource first, or send * to patch any version of it.").
			At("header:If-Match", "is required.")
	}
	return parseMatch(contract.IfMatch, header)
}

// parseMatch reads If-Match or If-None-Match (RFC 9110, 13.1.1 and 13.1.2): * or a list with entity tags. A nil header sets no condition.
//
// It keeps the W/ of a weak tag. If-Match compares strongly, so a weak tag must match nothing in If-Match. Without the W/, the tag could match.
func parseMatch(name string, header *string) (m usecase.Match, err error) {
	if header == nil {
		return m, nil
	}
	rest := strings.TrimSpace(*header)
	if rest == "*" {
		return usecase.Match{Any: true}, nil
	}
	for {
		tag, after, ok := cutTag(rest)
		if !ok {
			return m, ipam.Invalid("header:"+name, "must be an entity tag in double quotes, a list of them, or *.")
		}
		m.Revisions = append(m.Revisions, tag)
		if rest = strings.TrimSpace(after); rest == "" {
			return m, nil
		}
		if rest, ok = strings.CutPrefix(rest, ","); !ok {
			return m, ipam.Invalid("header:"+name, "must separate its entity tags by commas.")
		}
		rest = strings.TrimSpace(rest)
	}
}

// cutTag cuts the first entity tag off s. It removes a strong tag's quotes. A weak tag keeps its W/ and its quotes.
func cutTag(s string) (tag, rest string, ok bool) {
	opaque, weak := strings.CutPrefix(s, "W/")
	opaque, ok = strings.CutPrefix(opaque, `"`)
	if !ok {
		return "", "", false
	}
	opaque, rest, ok = strings.Cut(opaque, `"`)
	if weak {
		opaque = `W/"` + opaque + `"`
	}
	return opaque, rest, ok
}

// revalidate returns 304 if a read's If-None-Match matches the current ETag. It inspects the finished response, and keeps the ETag and most other
// headers. It therefore runs after the checks on permissions and on the request, as RFC 9110 (13.2.1) requires.
func (a *adapter) revalidate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		op, values := operationOf(c), c.Request().Header[contract.IfNoneMatch]
		if op == nil || len(values) != 1 || !op.ReadsWithTag() {
			return next(c)
		}
		match, err := parseMatch(contract.IfNoneMatch, &values[0])
		if err != nil {
			return err
		}
		c.Response().Before(func() {
			r := c.Response()
			if r.Status != http.StatusOK || !matchesWeakly(match, r.Header().Get("ETag")) {
				return
			}
			r.Status = http.StatusNotModified
			r.Header().Del(echo.HeaderContentType)
			r.Header().Del(echo.HeaderContentLength)
			r.Writer = bodyless{r.Writer}
		})
		return next(c)
	}
}

// matchesWeakly compares tags as If-None-Match does, so it ignores W/ (RFC 9110, 8.8.3.2).
func matchesWeakly(m usecase.Match, tag string) bool {
	return m.Any || slices.ContainsFunc(m.Revisions, func(have string) bool {
		if opaque, weak := strings.CutPrefix(have, "W/"); weak {
			return opaque == tag
		}
		return quote(have) == tag
	})
}

// bodyless is a response without its body.
type bodyless struct{ http.ResponseWriter }

// Write implements http.ResponseWriter.
func (bodyless) Write(b []byte) (int, error) { return len(b), nil }

// Unwrap lets http.ResponseController find the wrapped writer.
func (b bodyless) Unwrap() http.ResponseWriter { return b.ResponseWriter }
