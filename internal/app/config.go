package app

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/api/limits"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Config is the server's configuration. Each field has a flag and an environment variable: CARVE_ and the flag's name in upper case, with underscores
// for dashes. The flag takes precedence.
type Config struct {
	Listen           string
	DataDir          string
	DatabaseURL      string
	DatabaseFile     string // file with a database URL, instead of DatabaseURL
	Embedded         string
	Auth             []string
	AdminKeyFile     string // "": Greet shows the key
	OIDCConfig       string
	TLSCert          string
	TLSKey           string
	TLSClientCA      string // "": clients need no certificate
	TLSClientAuth    string
	TLSMinVersion    string
	InsecureHTTP     bool
	AdminListen      string // "": no admin listener
	TrustedProxies   []string
	RateReads        int // per second and caller; 0: no limit, in this field and the next four
	RateWrites       int // per second and caller
	RateAnonymous    int // per second and client address
	RateWork         int // cost per second and caller
	RateProject      int // cost per second and project
	AuditRetention   time.Duration
	HistoryRetention time.Duration
	// ConsumerRetention is the time for which the server keeps the record of an ended consumer. During this time the consumer cannot be created
	// again.
	ConsumerRetention time.Duration
	// UtilizationEvery is the interval between pool utilization records.
	UtilizationEvery time.Duration
	Region           string
	StockRunway      time.Duration
	LogLevel         string
	LogFormat        string
	RequestTimeout   time.Duration
	DrainDelay       time.Duration
	MaxConnections   int
	MaxInFlight      int    // 0: no limit
	MaxWaiting       int    // claims and releases that wait for one pool; 0: MaxInFlight
	MaxClients       int    // connections from clients; 0: as many as the open files allow
	MaxSpaces        int    // in a project
	WebhookKeyFile   string // "": no webhooks; with the embedded database, the server makes a key file
	WebhookNetworks  []string
	Metrics          string
	MetricsPools     int // pools with metrics by name; 0: none

	version    bool   // --version is set
	mustRetain bool   // a retention is set in a flag or variable
	bareURL    bool   // the database URL was on the command line, where other users can read it
	bounds     bounds // connection timeouts; zero: the defaults; only tests change them
}

const envPrefix = "CARVE_"

// foreignVariables are environment variables with the prefix CARVE_ that belong to the project's other programs.
var foreignVariables = []string{"CARVE_SERVER", "CARVE_PROJECT", "CARVE_POSTGRES_BIN", "CARVE_TEST_ENGINE", "CARVE_OUTPUT", "CARVE_TIMEOUT", "CARVE_API_KEY", "CARVE_API_KEY_FILE", "CARVE_CLIENT_CERT", "CARVE_CLIENT_KEY", "CARVE_CONFIG"}

func (c *Config) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("server", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&c.Listen, "listen", "127.0.0.1:8080", "address to serve on; port 0 takes any free one and prints it")
	f.StringVar(&c.DataDir, "data-dir", "./data", "directory of the embedded database")
	f.StringVar(&c.DatabaseURL, "database-url", "", "`URL` of a CockroachDB or PostgreSQL 15+ to use instead of the embedded database; run 'ipamctl migrate' on it first")
	f.StringVar(&c.DatabaseFile, "database-url-file", "", "file with the database URL, instead of --database-url, so that lists of processes do not show its password; read again for each new connection")
	f.StringVar(&c.Embedded, "embedded", "postgres", "`ENGINE` of the embedded database: postgres or cockroach (needs the program cockroach on PATH)")
	f.StringSliceVar(&c.Auth, "auth", nil, "ways to identify callers, one or more: keys (API keys), oidc (tokens of the issuers in --oidc-config), dev (a caller without credentials is platform admin; loopback only)")
	f.StringVar(&c.AdminKeyFile, "admin-key-file", "", "file to write the first admin's key to, instead of printing it, if the embedded database has no admin yet; only this user can read it")
	f.StringVar(&c.OIDCConfig, "oidc-config", "", "file with the trusted OpenID Connect issuers and the meaning of their claims (YAML)")
	f.StringVar(&c.TLSCert, "tls-cert", "", "file with the certificate for HTTPS and its chain (PEM); read again when it changes")
	f.StringVar(&c.TLSKey, "tls-key", "", "file with the certificate's key (PEM)")
	f.StringVar(&c.TLSClientCA, "tls-client-ca", "", "file with the CAs (PEM) that sign the certificates of clients; read again when it changes")
	f.StringVar(&c.TLSClientAuth, "tls-client-auth", clientsRequired, "with --tls-client-ca: required, or optional (clients without a certificate may connect; a certificate that is sent must be valid)")
	f.StringVar(&c.TLSMinVersion, "tls-min-version", "1.2", "oldest accepted version of TLS: 1.2 or 1.3")
	f.BoolVar(&c.InsecureHTTP, "insecure-http", false, "serve plain HTTP beyond loopback; a proxy in front of this server must terminate TLS")
	f.StringVar(&c.AdminListen, "admin-listen", "", "second address, which serves only /healthz, /readyz, /metrics and pprof; pprof is for callers on this machine. Beyond loopback it uses TLS if --tls-cert is set, without client certificates")
	f.StringSliceVar(&c.TrustedProxies, "trusted-proxies", nil, "addresses or CIDRs of the proxies whose X-Forwarded-For names the client")
	f.IntVar(&c.RateReads, "rate-limit-reads", limits.DefaultRates.Reads, "reads per second of one caller; bursts of up to two seconds; 0 = no limit")
	f.IntVar(&c.RateWrites, "rate-limit-writes", limits.DefaultRates.Writes, "writes per second of one caller; bursts of up to two seconds; 0 = no limit")
	f.IntVar(&c.RateAnonymous, "rate-limit-anonymous", limits.DefaultRates.Anonymous, "requests per second without valid credentials from one client address; bursts of up to two seconds; 0 = no limit")
	f.IntVar(&c.RateWork, "rate-limit-work", limits.DefaultRates.Work, "cost per second of one caller's requests: a claim costs 20, a claim in a batch 10, another write 100, a dry run 250, each KiB of a body 30, each row that a list reads 3; bursts of up to four seconds; 0 = no limit")
	f.IntVar(&c.RateProject, "rate-limit-project-work", limits.DefaultRates.Project, "cost per second of the requests of all callers of one project; bursts of up to four seconds; 0 = no limit")
	f.DurationVar(&c.AuditRetention, auditRetention, AuditRetention, "time for which the server keeps records of the audit trail, if the database user may delete them; 0 = for ever")
	f.DurationVar(&c.ConsumerRetention, consumerRetention, 30*24*time.Hour, "time for which the server keeps an ended consumer's record, so that its UID cannot be used again")
	f.DurationVar(&c.HistoryRetention, historyRetention, HistoryRetention, "time for which the server keeps the holders of addresses, from the end of the hold, if the database user may delete them; 0 = for ever")
	f.DurationVar(&c.UtilizationEvery, "utilization-every", utilization.DefaultEvery, "interval between records of the usage of each pool")
	f.StringVar(&c.Region, "region", "local", "region of this server, a DNS label")
	f.DurationVar(&c.StockRunway, "stock-runway", 10*time.Minute, "time for which a loan from a pool with another home region should last")
	f.StringVar(&c.LogLevel, "log-level", "info", "lowest level of log lines: debug, info, warn or error")
	f.StringVar(&c.LogFormat, "log-format", "text", "format of the log: text or json")
	f.DurationVar(&c.RequestTimeout, "request-timeout", 10*time.Second, "deadline of a request, including its SQL")
	f.DurationVar(&c.DrainDelay, "drain-delay", 0, "time to continue serving after a request to stop, while /readyz returns 503; load balancers must notice within this time")
	f.IntVar(&c.MaxConnections, "max-connections", 16, "limit on connections to the database")
	f.IntVar(&c.MaxInFlight, "max-in-flight", 1024, "limit on concurrent requests, half of it for one caller; the server refuses more with 503 or 429; 0 = no limit")
	f.IntVar(&c.MaxWaiting, "max-waiting", 0, "limit on claims and releases that wait for one pool; the server refuses more with 503; 0 = --max-in-flight")
	f.IntVar(&c.MaxClients, "max-clients", 16384, "limit on client connections; at the limit, the server closes the longest idle connection of the address with the most idle ones; 0 = the limit on open files")
	f.IntVar(&c.MaxSpaces, "max-spaces", 256, "limit on spaces of a project; quotas do not count spaces")
	f.StringVar(&c.WebhookKeyFile, "webhook-key-file", "", "file with the key (32 bytes or more) from which the servers derive the secrets of webhooks, the same on all servers; default: a key in the data directory with the embedded database, otherwise no webhooks")
	f.StringSliceVar(&c.WebhookNetworks, "webhook-networks", nil, "private CIDRs to which the server may send webhooks, also by plain HTTP")
	f.StringVar(&c.Metrics, "metrics", metricsLoopback, "callers that may read /metrics, without credentials: loopback (callers on this machine), admin (all that reach --admin-listen), open (all that reach this server) or off (none; the server measures nothing)")
	f.BoolVar(&c.version, versionFlag, false, "print the version and exit")
	f.IntVar(&c.MetricsPools, "metrics-pools", 20, "number of the fullest pools that the metrics name, with their projects; 0 = none, and the server does not sample pools")
	return f
}

// versionFlag is the only flag without an environment variable, because it is an action instead of a setting.
const versionFlag = "version"

// ErrVersion means that the user asked for the version. It is not a failure.
var ErrVersion = errors.New("version requested")

// ParseConfig reads flags and environment variables ("NAME=value"). For an unknown flag or CARVE_ variable, it returns an error that suggests the
// nearest known one. The error is pflag.ErrHelp if the user asked for help, and ErrVersion if the user asked for the version. usage is the text to
// print.
func ParseConfig(args, environ []string) (c Config, usage string, err error) {
	f := c.flags()
	f.Usage = func() {}
	usage = "server serves the Carve API.\n\nFlags (each also an environment variable: --data-dir is CARVE_DATA_DIR):\n" + f.FlagUsages()
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return c, usage, err
		}
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
			return c, usage, fmt.Errorf("unknown flag --%s%s", unknown.GetSpecifiedName(), nearest(unknown.GetSpecifiedName(), flagNames(f), "--"))
		}
		return c, usage, err
	}
	if f.NArg() > 0 {
		return c, usage, errors.New("unexpected argument: the server takes flags only, as --name=value")
	}
	if c.version {
		return c, versionText(), ErrVersion
	}
	c.bareURL = f.Changed("database-url")
	if err := fromEnvironment(f, environ); err != nil {
		return c, usage, err
	}
	c.mustRetain = (f.Changed(auditRetention) && c.AuditRetention > 0) || (f.Changed(historyRetention) && c.HistoryRetention > 0)
	return c, usage, c.check()
}

func fromEnvironment(f *pflag.FlagSet, environ []string) error {
	known := map[string]string{}
	var names []string
	for _, flag := range flagNames(f) {
		if flag == versionFlag {
			continue
		}
		name := envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
		known[name] = flag
		names = append(names, name)
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(foreignVariables, name) {
			continue
		}
		flag, ok := known[name]
		if !ok {
			return fmt.Errorf("unknown environment variable %s%s", name, nearest(name, names, ""))
		}
		if f.Changed(flag) {
			continue
		}
		if err := f.Set(flag, value); err != nil {
			return fmt.Errorf("environment variable %s: %w", name, err)
		}
	}
	return nil
}

func flagNames(f *pflag.FlagSet) []string {
	var names []string
	f.VisitAll(func(fl *pflag.Flag) { names = append(names, fl.Name) })
	return names
}

func nearest(name string, known []string, prefix string) string {
	best, distance := "", len(name)/2+1
	for _, k := range known {
		if d := levenshtein.ComputeDistance(name, k); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return "; see --help"
	}
	return fmt.Sprintf("; did you mean %s%s?", prefix, best)
}

// check validates the configuration as a whole.
func (c Config) check() error {
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("--listen %q is not host:port", c.Listen)
	}
	if !ipam.ValidName(c.Region) {
		return fmt.Errorf("--region %q is not a DNS label", c.Region)
	}
	for _, v := range []struct {
		flag, value string
		known       []string
	}{
		{"--embedded", c.Embedded, []string{"postgres", "cockroach"}},
		{"--log-level", c.LogLevel, []string{"debug", "info", "warn", "error"}},
		{"--log-format", c.LogFormat, []string{"text", "json"}},
		{"--metrics", c.Metrics, []string{metricsLoopback, metricsAdmin, metricsOpen, metricsOff}},
		{"--tls-client-auth", c.TLSClientAuth, []string{clientsRequired, clientsOptional}},
		{"--tls-min-version", c.TLSMinVersion, []string{"1.2", "1.3"}},
	} {
		if !slices.Contains(v.known, v.value) {
			return fmt.Errorf("%s %q is not one of %s", v.flag, v.value, strings.Join(v.known, ", "))
		}
	}
	for _, check := range []func() error{c.checkDatabase, c.checkAuth, c.checkExposure, c.checkAdmin, c.checkLimits} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}
