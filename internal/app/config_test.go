package app

import (
	"net/netip"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestParseConfig(t *testing.T) {
	t.Parallel()
	dev := []string{"--auth=dev"}
	for name, tc := range map[string]struct {
		args, env []string
		wrong     string // part of the error; "" means that the configuration is accepted
	}{
		"DefaultsWithDevAuth":                 {args: dev},
		"RefusesToStartOpen":                  {wrong: "--auth is required"},
		"RefusesAnUnknownFlagNamingNearest":   {args: []string{"--lissten=x"}, wrong: "did you mean --listen?"},
		"RefusesAnUnknownVariable":            {args: dev, env: []string{"CARVE_DATADIR=x"}, wrong: "did you mean CARVE_DATA_DIR?"},
		"IgnoresOtherPeoplesVariables":        {args: dev, env: []string{"HOME=/x", "CARVE_POSTGRES_BIN=/y"}},
		"RefusesDevAuthBeyondLoopback":        {args: []string{"--auth=dev", "--listen=0.0.0.0:80"}, wrong: "loopback only"},
		"RefusesDevAuthOnAllInterfaces":       {args: []string{"--auth=dev", "--listen=:8080"}, wrong: "loopback only"},
		"AcceptsDevAuthOnIPv6Loopback":        {args: []string{"--auth=dev", "--listen=[::1]:0"}},
		"RefusesAnUnknownAuth":                {args: []string{"--auth=magic"}, wrong: "not one of dev, keys, oidc"},
		"RefusesAnUnknownAuthBesideAKnown":    {args: []string{"--auth=keys,magic"}, wrong: "not one of dev, keys, oidc"},
		"AcceptsKeys":                         {args: []string{"--auth=keys"}},
		"AcceptsSeveralWays":                  {args: []string{"--auth=dev,keys", "--auth=oidc", "--oidc-config=x.yaml"}},
		"RefusesOIDCWithoutItsFile":           {args: []string{"--auth=oidc"}, wrong: "--oidc-config"},
		"RefusesTheFileWithoutOIDC":           {args: []string{"--auth=keys", "--oidc-config=x.yaml"}, wrong: "--auth=oidc"},
		"RefusesDevBesideKeysBeyondLoopback":  {args: []string{"--auth=keys,dev", "--listen=:80", "--insecure-http"}, wrong: "loopback only"},
		"RefusesPlainHTTPBeyondLoopback":      {args: []string{"--auth=keys", "--listen=:80"}, wrong: "unencrypted"},
		"AcceptsRequestedPlainHTTP":           {args: []string{"--auth=keys", "--listen=:80", "--insecure-http"}},
		"AcceptsTLSBeyondLoopback":            {args: []string{"--auth=keys", "--listen=:443", "--tls-cert=c.pem", "--tls-key=k.pem"}},
		"RefusesACertificateWithoutKey":       {args: []string{"--auth=keys", "--tls-cert=c.pem"}, wrong: "belong together"},
		"RefusesAKeyWithoutCertificate":       {args: []string{"--auth=keys", "--tls-key=k.pem"}, wrong: "belong together"},
		"RefusesInsecureTLS":                  {args: []string{"--auth=keys", "--tls-cert=c", "--tls-key=k", "--insecure-http"}, wrong: "contradict"},
		"RefusesAKeyFileWithAnotherDatabase":  {args: []string{"--auth=keys", "--admin-key-file=x", "--database-url=postgresql://x"}, wrong: "ipamctl bootstrap"},
		"RefusesANegativeRate":                {args: []string{"--auth=keys", "--rate-limit-writes=-1"}, wrong: "--rate-limit-writes"},
		"RefusesARateBeyondReason":            {args: []string{"--auth=keys", "--rate-limit-anonymous=1000001"}, wrong: "--rate-limit-anonymous"},
		"AcceptsNoLimits":                     {args: []string{"--auth=keys", "--rate-limit-reads=0", "--rate-limit-writes=0", "--rate-limit-anonymous=0"}},
		"AcceptsProxies":                      {args: []string{"--auth=keys", "--trusted-proxies=10.0.0.0/8,192.0.2.1", "--trusted-proxies=2001:db8::/32"}},
		"RefusesANonAddressProxy":             {args: []string{"--auth=keys", "--trusted-proxies=proxy.example"}, wrong: "neither an address nor a CIDR"},
		"RefusesToTrustAllAddresses":          {args: []string{"--auth=keys", "--trusted-proxies=0.0.0.0/0"}, wrong: "every address"},
		"AcceptsARetention":                   {args: []string{"--auth=keys", "--audit-retention=2160h"}},
		"RefusesAHistoryOfAMoment":            {args: []string{"--auth=keys", "--history-retention=1s"}, wrong: "--history-retention"},
		"RefusesARetentionOfAMoment":          {args: []string{"--auth=keys", "--audit-retention=1s"}, wrong: "--audit-retention"},
		"RefusesAnUnknownFlagOfOurs":          {args: []string{"--auth=keys", "--rate-limit-write=5"}, wrong: "did you mean --rate-limit-writes?"},
		"IgnoresTheClientsVariables":          {args: dev, env: []string{"CARVE_API_KEY=carve_x", "CARVE_CONFIG=/z"}},
		"ReadsListsFromVariables":             {env: []string{"CARVE_AUTH=keys,dev", "CARVE_TRUSTED_PROXIES=10.0.0.0/8"}},
		"RefusesAnUnknownEngine":              {args: []string{"--auth=dev", "--embedded=sqlite"}, wrong: "--embedded"},
		"RefusesAListenAddressWithoutPort":    {args: []string{"--auth=dev", "--listen=localhost"}, wrong: "host:port"},
		"RefusesAnInvalidRegionName":          {args: []string{"--auth=dev", "--region=Bad_Region"}, wrong: "--region"},
		"RefusesArguments":                    {args: []string{"--auth=dev", "serve"}, wrong: "flags only"},
		"RefusesAVariableThatCannotBeParsed":  {args: dev, env: []string{"CARVE_REQUEST_TIMEOUT=soon"}, wrong: "CARVE_REQUEST_TIMEOUT"},
		"RefusesAZeroTimeout":                 {args: []string{"--auth=dev", "--request-timeout=0s"}, wrong: "--request-timeout"},
		"RefusesAnUnknownMetricsValue":        {args: []string{"--auth=dev", "--metrics=world"}, wrong: "not one of loopback, admin, open, off"},
		"AcceptsOpenMetrics":                  {args: dev, env: []string{"CARVE_METRICS=open"}},
		"RefusesTheVersionAsAVariable":        {args: dev, env: []string{"CARVE_VERSION=1"}, wrong: "unknown environment variable CARVE_VERSION"},
		"RefusesTwoDatabases":                 {args: []string{"--auth=keys", "--database-url=x"}, env: []string{"CARVE_DATABASE_URL_FILE=/y"}, wrong: "--database-url-file both"},
		"AcceptsAFileWithTheDatabaseURL":      {args: dev, env: []string{"CARVE_DATABASE_URL_FILE=/y"}},
		"IgnoresTheClientsKeyFile":            {args: dev, env: []string{"CARVE_API_KEY_FILE=/y"}},
		"AcceptsClientCertificates":           {args: []string{"--auth=keys", "--listen=:443", "--tls-cert=c", "--tls-key=k", "--tls-client-ca=ca"}},
		"AcceptsOptionalCertificates":         {args: []string{"--auth=keys", "--tls-cert=c", "--tls-key=k", "--tls-client-ca=ca", "--tls-client-auth=optional"}},
		"RefusesClientCAsWithoutTLS":          {args: []string{"--auth=keys", "--tls-client-ca=ca"}, wrong: "--tls-client-ca needs --tls-cert"},
		"RefusesOptionalWithoutClientCAs":     {args: []string{"--auth=keys", "--tls-cert=c", "--tls-key=k", "--tls-client-auth=optional"}, wrong: "needs --tls-client-ca"},
		"RefusesAnotherWordForClients":        {args: []string{"--auth=keys", "--tls-client-auth=maybe"}, wrong: "not one of required, optional"},
		"RefusesAnOldTLS":                     {args: []string{"--auth=keys", "--tls-min-version=1.1"}, wrong: "not one of 1.2, 1.3"},
		"AcceptsAnAdminListenerOnLoopback":    {args: []string{"--auth=dev", "--admin-listen=127.0.0.1:9090"}},
		"AcceptsTwoFreePorts":                 {args: []string{"--auth=dev", "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0"}},
		"RefusesAnAdminListenerWithoutPort":   {args: []string{"--auth=dev", "--admin-listen=127.0.0.1"}, wrong: "host:port"},
		"RefusesOneAddressForBoth":            {args: []string{"--auth=dev", "--admin-listen=127.0.0.1:8080"}, wrong: "set a separate address"},
		"RefusesAPlainAdminOnANetwork":        {args: []string{"--auth=keys", "--admin-listen=:9090"}, wrong: "network could read the traffic"},
		"AcceptsARequestedPlainAdminListener": {args: []string{"--auth=keys", "--admin-listen=:9090", "--insecure-http"}},
		"AcceptsAnAdminWithTLSOnANetwork":     {args: []string{"--auth=keys", "--admin-listen=:9090", "--tls-cert=c", "--tls-key=k"}},
		"RefusesAnAdminOfDevOnANetwork":       {args: []string{"--auth=dev", "--admin-listen=:9090", "--insecure-http"}, wrong: "--auth=dev"},
		"RefusesAdminMetricsWithoutAdmin":     {args: []string{"--auth=keys", "--metrics=admin"}, wrong: "needs --admin-listen"},
		"RefusesTooFewClients":                {args: []string{"--auth=keys", "--max-clients=15"}, wrong: "--max-clients"},
		"RefusesTooManyClients":               {args: []string{"--auth=keys", "--max-clients=1000001"}, wrong: "--max-clients"},
		"AcceptsUnboundedClients":             {args: []string{"--auth=keys", "--max-clients=0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := ParseConfig(tc.args, tc.env)
			if tc.wrong == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.wrong)
		})
	}
}

func TestFlagsOverrideTheEnvironment(t *testing.T) {
	t.Parallel()
	c, _, err := ParseConfig([]string{"--auth=dev", "--region=west"}, []string{"CARVE_REGION=east", "CARVE_DATA_DIR=/tmp/x"})
	require.NoError(t, err)
	require.Equal(t, "west", c.Region)
	require.Equal(t, "/tmp/x", c.DataDir)
}

// The audit trail of a default configuration must not grow without limit.
func TestAuditRetentionIsLimitedByDefault(t *testing.T) {
	t.Parallel()
	c, _, err := ParseConfig([]string{"--auth=keys"}, nil)
	require.NoError(t, err)
	require.Equal(t, 90*24*time.Hour, c.AuditRetention)
	require.Equal(t, 365*24*time.Hour, c.HistoryRetention)
	require.False(t, c.mustRetain, "a user who may not delete records is no reason not to start")
	c, _, err = ParseConfig([]string{"--auth=keys", "--audit-retention=0", "--history-retention=0"}, nil)
	require.NoError(t, err)
	require.Zero(t, c.AuditRetention+c.HistoryRetention)
	require.False(t, c.mustRetain)
}

func TestHelpListsEveryFlagWithItsDefault(t *testing.T) {
	t.Parallel()
	_, usage, err := ParseConfig([]string{"--help"}, nil)
	require.ErrorIs(t, err, pflag.ErrHelp)
	for _, want := range []string{
		"--listen", "127.0.0.1:8080", "--data-dir", "./data", "--database-url", "--embedded", "--auth", "--region", "--log-level", "--log-format",
		"--oidc-config", "--tls-cert", "--tls-key", "--insecure-http", "--trusted-proxies", "--rate-limit-reads", "500", "--rate-limit-writes", "200",
		"--rate-limit-anonymous", "20", "--audit-retention",
	} {
		require.Contains(t, usage, want)
	}
}

func TestTrustedProxiesAreParsed(t *testing.T) {
	t.Parallel()
	c := Config{TrustedProxies: []string{"10.1.2.3/8", " 192.0.2.1", "2001:db8::1"}}
	got, err := c.proxies()
	require.NoError(t, err)
	require.Equal(t, []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::1/128"),
	}, got)
}

func TestHelpNamesTheValuesOfFlags(t *testing.T) {
	t.Parallel()
	_, usage, err := ParseConfig([]string{"--help"}, nil)
	require.ErrorIs(t, err, pflag.ErrHelp)
	require.Regexp(t, `--database-url URL +URL of a CockroachDB or PostgreSQL`, usage)
	require.Regexp(t, `--embedded ENGINE +ENGINE of the embedded database`, usage)
	require.NotContains(t, usage, "`")
}

func TestVersionFlagNeedsNoOtherFlags(t *testing.T) {
	t.Parallel()
	_, text, err := ParseConfig([]string{"--version"}, nil) // without --auth, which a server would need
	require.ErrorIs(t, err, ErrVersion)
	require.Regexp(t, `^carve server dev(, commit [0-9a-f]+)?, go1\.\S+\n$`, text)
}
