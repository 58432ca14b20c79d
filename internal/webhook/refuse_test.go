package webhook

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// notPublic has an address from each network that is reserved for a special purpose.
var notPublic = []string{
	"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1", "192.0.0.192",
	"192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
	"::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::1", "100::1",
	"168.63.129.16", "::ffff:168.63.129.16", "199.36.153.5", "199.36.153.9", "161.26.0.10", "166.9.1.1", "2600:2d00:2:1000::1", "2600:2d00:2:10ff::1", "2600:2d00:2:20ff::1",
	"2001::1", "2001:db8::1", "2002:a00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
}

func TestWebhookURLIsValidated(t *testing.T) {
	t.Parallel()
	inside := Networks{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}
	for _, good := range []string{
		"https://hooks.example.com", "https://hooks.example.com/a?b=c", "https://hooks.example.com:443/", "https://HOOKS.example.com:8443",
		"https://8.8.8.8/", "https://[2606:4700::1111]:8443/", "https://xn--bcher-kva.example/", "https://a_b.example.com/", "https://receiver/",
	} {
		require.NoError(t, CheckURL(good, nil), good)
		require.NoError(t, CheckURL(good, inside), good)
	}
	for _, private := range []string{
		"http://receiver.corp/", "http://receiver.corp:80/", "http://10.1.2.3:8080/", "http://[::ffff:10.1.2.3]/", "http://[fd00:1::5]/",
		"https://10.1.2.3/",
	} {
		require.NoError(t, CheckURL(private, inside), private)
		requireRefusedURL(t, private, nil)
	}
	for _, bad := range []string{
		"", "hooks.example.com", "https://", "https:///a", "https:hooks.example.com", "ftp://hooks.example.com", "file:///etc/passwd", "://x",
		"https://me@hooks.example.com", "https://me:secret@hooks.example.com", "https://hooks.example.com/#", "https://hooks.example.com/#a",
		"https://hooks.example.com:0", "https://hooks.example.com:22", "https://hooks.example.com:80", "https://hooks.example.com:65536", "https://a:-1",
		"http://8.8.8.8/", "http://[2606:4700::1111]/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.0.0.1/",
		"https://1.2.3.04/", "https://a b/", "https://bücher.example/", "https://hooks.example.com./", "https://-a.example/", "https://a..example/",
		"https://[fe80::1%25lo]/", "https://[fd00:1::5%25lo]/",
		"https://hooks.example.com/" + string(make([]byte, longestURL)),
	} {
		requireRefusedURL(t, bad, nil)
		requireRefusedURL(t, bad, inside)
	}
	for _, address := range notPublic {
		u := "https://" + net.JoinHostPort(address, "443")
		requireRefusedURL(t, u, nil)
		requireRefusedURL(t, u, inside)
	}
}

func requireRefusedURL(t *testing.T, raw string, allowed Networks) {
	t.Helper()
	err := CheckURL(raw, allowed)
	require.Equal(t, ipam.CodeInvalidArgument, ipam.CodeOf(err), raw)
	var refusal *ipam.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "/spec/url", refusal.Fields[0].Pointer)
	require.NotContains(t, refusal.Message, "secret", "a URL may have credentials in it")
}

// A name with a forbidden address is refused. The outcome does not depend on whether a server listens at that address.
func TestHostWithANonpublicAddressIsRefused(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			t.Error("somebody has connected")
			_ = connection.Close()
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	known := map[string][]netip.Addr{}
	for i, address := range notPublic {
		known["n"+strconv.Itoa(i)+".example."] = []netip.Addr{netip.MustParseAddr(address)}
	}
	resolver := newNames(t, known)
	for _, allowed := range []Networks{nil, {netip.MustParsePrefix("10.1.0.0/16")}} {
		c := NewClient(allowed)
		c.plain.Resolver, c.secure.Resolver = resolver.Resolver, resolver.Resolver
		for i, address := range notPublic {
			name := "n" + strconv.Itoa(i) + ".example"
			for _, port := range []string{port, "8443"} {
				require.Equal(t, Outcome{Reason: Unresolved}, c.Send(t.Context(), delivery("https://"+name+":"+port)), address)
				require.Equal(t, Outcome{Reason: Unresolved}, c.Send(t.Context(), delivery("http://"+name+":"+port)), address)
			}
		}
		require.Equal(t, Outcome{Reason: Unresolved}, c.Send(t.Context(), delivery("https://nobody.example")))
	}
	require.Equal(t, Outcome{Reason: Unresolved}, NewClient(nil).Send(t.Context(), delivery("https://localhost:"+port)))
}

// Without TLS, the network could read a delivery. So it must not go to the public Internet.
func TestPublicAddressNeedsTLS(t *testing.T) {
	t.Parallel()
	resolver := newNames(t, map[string][]netip.Addr{"public.example.": {netip.MustParseAddr("2606:4700::1111")}})
	c := NewClient(Networks{netip.MustParsePrefix("10.1.0.0/16")})
	c.plain.Resolver = resolver.Resolver
	require.Equal(t, Outcome{Reason: Unresolved}, c.Send(t.Context(), delivery("http://public.example")))
}

// A URL may have been valid when the webhook was created, and be invalid now.
func TestWebhookURLIsCheckedAgainBeforeDelivery(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }))
	t.Cleanup(receiver.Close)
	c := NewClient(loopback)
	for _, bad := range []string{strings.Replace(receiver.URL, "//", "//me:secret@", 1), "ftp://127.0.0.1", "", "%"} {
		require.Equal(t, Outcome{Reason: Unresolved}, c.Send(t.Context(), delivery(bad)))
	}
}

// The client checks the address to which it connects. It does not rely on an address that the name had earlier.
func TestHostReboundToAPrivateAddressIsRefused(t *testing.T) {
	t.Parallel()
	var taken atomic.Int32
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		taken.Add(1)
		w.Header().Set("Connection", "close")
	}))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "0.0.0.0:0")
	require.NoError(t, err)
	receiver.Listener = listener
	receiver.Start()
	t.Cleanup(receiver.Close)
	resolver := newNames(t, map[string][]netip.Addr{"moves.example.": {netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.1")}})
	c := NewClient(Networks{netip.MustParsePrefix("127.0.0.2/32")})
	c.plain.Resolver = resolver.Resolver
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	d := delivery("http://moves.example:" + port)
	require.Equal(t, Outcome{Status: http.StatusOK}, c.Send(t.Context(), d))
	require.Equal(t, Outcome{Reason: Unresolved}, c.Send(t.Context(), d))
	require.EqualValues(t, 1, taken.Load())
}
