package app

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestParseConfig(t *testing.T) {
	t.Parallel()
	dev := []string{"--auth=dev"}
	for name, tc := range map[string]struct {
		args, env []string
		wrong     string // part of the refusal; "" = accepted
	}{
		"DefaultsWithDevAuth":                {args: dev},
		"RefusesToStartOpen":                 {wrong: "--auth is required"},
		"RefusesAnUnknownFlagNamingNearest":  {args: []string{"--lissten=x"}, wrong: "did you mean --listen?"},
		"RefusesAnUnknownVariable":           {args: dev, env: []string{"CARVE_DATADIR=x"}, wrong: "did you mean CARVE_DATA_DIR?"},
		"IgnoresOtherPeoplesVariables":       {args: dev, env: []string{"HOME=/x", "CARVE_POSTGRES_BIN=/y"}},
		"RefusesDevAuthBeyondLoopback":       {args: []string{"--auth=dev", "--listen=0.0.0.0:80"}, wrong: "loopback only"},
		"RefusesDevAuthOnAllInterfaces":      {args: []string{"--auth=dev", "--listen=:8080"}, wrong: "loopback only"},
		"AcceptsDevAuthOnIPv6Loopback":       {args: []string{"--auth=dev", "--listen=[::1]:0"}},
		"RefusesAnUnknownAuth":               {args: []string{"--auth=magic"}, wrong: "not known"},
		"RefusesAnUnknownEngine":             {args: []string{"--auth=dev", "--embedded=sqlite"}, wrong: "--embedded"},
		"RefusesAListenAddressWithoutPort":   {args: []string{"--auth=dev", "--listen=localhost"}, wrong: "host:port"},
		"RefusesARegionThatIsNoName":         {args: []string{"--auth=dev", "--region=Bad_Region"}, wrong: "--region"},
		"RefusesArguments":                   {args: []string{"--auth=dev", "serve"}, wrong: "flags only"},
		"RefusesAVariableThatCannotBeParsed": {args: dev, env: []string{"CARVE_REQUEST_TIMEOUT=soon"}, wrong: "CARVE_REQUEST_TIMEOUT"},
		"RefusesAZeroTimeout":                {args: []string{"--auth=dev", "--request-timeout=0s"}, wrong: "--request-timeout"},
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

func TestFlagsWinOverEnvironment(t *testing.T) {
	t.Parallel()
	c, _, err := ParseConfig([]string{"--auth=dev", "--region=west"}, []string{"CARVE_REGION=east", "CARVE_DATA_DIR=/tmp/x"})
	require.NoError(t, err)
	require.Equal(t, "west", c.Region)
	require.Equal(t, "/tmp/x", c.DataDir)
}

func TestHelpListsEveryFlagWithItsDefault(t *testing.T) {
	t.Parallel()
	_, usage, err := ParseConfig([]string{"--help"}, nil)
	require.ErrorIs(t, err, pflag.ErrHelp)
	for _, want := range []string{"--listen", "127.0.0.1:8080", "--data-dir", "./data", "--database-url", "--embedded", "--auth", "--region", "--log-level", "--log-format"} {
		require.Contains(t, usage, want)
	}
}
