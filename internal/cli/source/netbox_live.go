package source

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
)

// Live is a running NetBox that is read through its API.
type Live struct {
	URL, Token string
	HTTP       *http.Client
	// Wait waits until a busy server can serve the next request.
	Wait func(ctx context.Context, answer *http.Response) error
}

const largestAnswer = 256 << 20

// Read reads all addresses through the API, page by page.
func (l Live) Read(ctx context.Context) (*Reading, error) {
	base, err := url.Parse(l.URL)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("%q is not the URL of a NetBox", l.URL)
	}
	out := &Reading{fields: map[string]bool{}}
	n := newNetBoxReading(out)
	for _, endpoint := range []string{"vrfs", "aggregates", "prefixes", "ip-ranges", "ip-addresses"} {
		if err := l.list(ctx, n, base, endpoint); err != nil {
			return nil, err
		}
	}
	n.resolve()
	return out, nil
}

// list reads one list. If the list changes during the read, rows can move between pages. In that case, list drops duplicate rows. If every page
// reports the same count, the number of rows must be equal to the count.
func (l Live) list(ctx context.Context, n *netboxReading, base *url.URL, endpoint string) error {
	next := base.JoinPath("api", "ipam", endpoint, "/")
	next.RawQuery = "limit=500"
	said := map[int]bool{}
	before, count := n.out.Records.Len(), 0
	for next != nil {
		page, err := l.page(ctx, next)
		if err != nil {
			return err
		}
		for _, members := range page.Results {
			if err := n.object(netboxEndpoints[endpoint], members); err != nil {
				return away{err} // the object changed between two pages
			}
		}
		count = page.Count
		said[count] = true
		if next, err = l.following(base, page.Next); err != nil {
			return err
		}
	}
	if read := n.out.Records.Len() - before; len(said) == 1 && read != count {
		return away{fmt.Errorf("NetBox counts %d %s, but returned %d", count, endpoint, read)}
	}
	return nil
}

type livePage struct {
	Count   int              `json:"count"`
	Next    string           `json:"next"`
	Results []map[string]any `json:"results"`
}

// away is the error for a source that cannot be read now. A later run may succeed.
type away struct{ error }

// ExitCode returns the exit code of an unavailable server.
func (away) ExitCode() int { return exit.Unavailable }

func (e away) Unwrap() error { return e.error }

// following returns the URL of the next page. It refuses a URL with another host, because the token must not be sent to that host.
func (l Live) following(base *url.URL, next string) (*url.URL, error) {
	if next == "" {
		return nil, nil //nolint:nilnil // there is no next page
	}
	u, err := url.Parse(next)
	if err != nil {
		return nil, fmt.Errorf("the next page of NetBox is %q: %w", next, err)
	}
	u.Scheme = base.Scheme // behind a proxy, NetBox may report plain http
	if u.Host != base.Host {
		return nil, fmt.Errorf("the next page of NetBox is at %s, not at %s: ipamctl does not send the token there", u.Host, base.Host)
	}
	return u, nil
}

func (l Live) page(ctx context.Context, at *url.URL) (p livePage, err error) {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return p, err
		}
		req.Header.Set("Accept", "application/json")
		if l.Token != "" {
			req.Header.Set("Authorization", tokenKind(l.Token)+l.Token)
		}
		resp, err := l.HTTP.Do(req)
		if err != nil {
			return p, away{fmt.Errorf("no response from NetBox: %w", err)}
		}
		text, err := io.ReadAll(io.LimitReader(resp.Body, largestAnswer))
		_ = resp.Body.Close() // the body was already read
		switch {
		case err != nil:
			return p, away{fmt.Errorf("the response of NetBox is incomplete: %w", err)}
		case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable:
			if err := l.Wait(ctx, resp); err != nil {
				return p, away{fmt.Errorf("NetBox is busy (%s): %w", resp.Status, err)}
			}
			continue
		case resp.StatusCode != http.StatusOK:
			err = fmt.Errorf("NetBox returned %s for %s", resp.Status, "/"+strings.TrimPrefix(at.Path, "/"))
			if resp.StatusCode >= http.StatusInternalServerError {
				err = away{err}
			}
			return p, err
		}
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.UseNumber()
		if err := d.Decode(&p); err != nil {
			return p, fmt.Errorf("the response of %s is not a response of NetBox: %w", at.Path, err)
		}
		return p, nil
	}
}

// tokenKind returns the authentication scheme for a token. The tokens of NetBox 4.5 and later begin with nbt_.
func tokenKind(token string) string {
	if strings.HasPrefix(token, "nbt_") {
		return "Bearer "
	}
	return "Token "
}
