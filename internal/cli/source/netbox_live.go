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
	URL   *url.URL
	Token string
	HTTP  *http.Client
	// Wait waits until a busy server can serve the next request.
	Wait func(ctx context.Context, response *http.Response) error
}

const largestResponse = 256 << 20

// Read reads all addresses through the API, page by page.
func (l Live) Read(ctx context.Context) (*Reading, error) {
	out := &Reading{fields: map[string]bool{}}
	n := newNetBoxReading(out)
	for _, endpoint := range []string{"vrfs", "aggregates", "prefixes", "ip-ranges", "ip-addresses"} {
		if err := l.list(ctx, n, endpoint); err != nil {
			return nil, err
		}
	}
	n.resolve()
	return out, nil
}

// list reads one list. If the list changes during the read, rows can move between pages. In that case, list drops duplicate rows. If every page
// reports the same count, the number of rows must be equal to the count.
func (l Live) list(ctx context.Context, n *netboxReading, endpoint string) error {
	next := l.URL.JoinPath("api", "ipam", endpoint, "/")
	next.RawQuery = "limit=500"
	counts := map[int]bool{}
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
		counts[count] = true
		if next, err = l.following(page.Next); err != nil {
			return err
		}
	}
	if read := n.out.Records.Len() - before; len(counts) == 1 && read != count {
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

func (away) ExitCode() int { return exit.Unavailable }

func (e away) Unwrap() error { return e.error }

// following returns the URL of the next page. It refuses a URL with another host, because the token must not be sent to that host.
func (l Live) following(next string) (*url.URL, error) {
	if next == "" {
		return nil, nil //nolint:nilnil // there is no next page
	}
	u, err := url.Parse(next)
	if err != nil {
		return nil, fmt.Errorf("the next page of NetBox is %q: %w", next, err)
	}
	u.Scheme = l.URL.Scheme // behind a proxy, NetBox may report plain http
	if u.Host != l.URL.Host {
		return nil, fmt.Errorf("the next page of NetBox is at %s, not at %s: ipamctl does not send the token there", u.Host, l.URL.Host)
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
		text, err := io.ReadAll(io.LimitReader(resp.Body, largestResponse))
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

// tokenKind returns the authentication scheme for a token. Since NetBox 4.5, tokens begin with nbt_.
func tokenKind(token string) string {
	if strings.HasPrefix(token, "nbt_") {
		return "Bearer "
	}
	return "Token "
}
