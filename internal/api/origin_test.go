package api

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddressOfTheClient(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}
	for name, tc := range map[string]struct {
		trusted   []netip.Prefix
		peer      string
		forwarded []string
		want      string
	}{
		"IsThePeerByDefault":                {nil, "192.0.2.1:4711", nil, "192.0.2.1"},
		"IgnoresHeadersOfClients":           {nil, "192.0.2.1:4711", []string{"198.51.100.7"}, "192.0.2.1"},
		"IgnoresHeadersOfUntrustedProxies":  {trusted, "192.0.2.1:4711", []string{"198.51.100.7"}, "192.0.2.1"},
		"UsesHeadersOfTrustedProxies":       {trusted, "10.1.2.3:4711", []string{"198.51.100.7"}, "198.51.100.7"},
		"IsTheNearestUntrustedAddress":      {trusted, "10.1.2.3:4711", []string{"203.0.113.9, 198.51.100.7, 10.9.9.9"}, "198.51.100.7"},
		"IsReadFromSeveralHeaders":          {trusted, "10.1.2.3:4711", []string{"203.0.113.9", "198.51.100.7"}, "198.51.100.7"},
		"IsTheProxyWithoutAHeader":          {trusted, "10.1.2.3:4711", nil, "10.1.2.3"},
		"IsTheProxyForAnInvalidHeader":      {trusted, "10.1.2.3:4711", []string{"unknown"}, "10.1.2.3"},
		"OfLoopbackIsNotTrustedUnlessNamed": {trusted, "127.0.0.1:4711", []string{"198.51.100.7"}, "127.0.0.1"},
		"OfPrivateRangesIsNotTrustedEither": {trusted, "192.168.1.1:4711", []string{"198.51.100.7"}, "192.168.1.1"},
		"WorksForIPv6":                      {trusted, "[2001:db8:1::5]:4711", []string{"2001:db8:2::1"}, "2001:db8:2::1"},
		"IsUnmappedFromIPv6":                {nil, "[::ffff:192.0.2.1]:4711", nil, "192.0.2.1"},
		"UsesHeadersOfMappedTrustedProxies": {trusted, "[::ffff:10.1.2.3]:4711", []string{"198.51.100.7"}, "198.51.100.7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = tc.peer
			for _, v := range tc.forwarded {
				r.Header.Add("X-Forwarded-For", v)
			}
			require.Equal(t, tc.want, plainAddress(extractor(tc.trusted)(r)))
		})
	}
}
