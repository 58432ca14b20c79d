package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWaitEndsWhenItsConditionHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		script []reply
		code   int
	}{
		"Bound":    {[]string{"claim", "web-eu", "--for", "bound"}, []reply{refusal(t, "ProblemNotFound"), ok(example(t, "IPClaim"))}, 0},
		"Deleted":  {[]string{"claim", "web-eu", "--for", "deleted"}, []reply{ok(example(t, "IPClaim")), refusal(t, "ProblemNotFound")}, 0},
		"Field":    {[]string{"pool", "prod-eu", "--for", "jsonpath={.status.spaceRef.name}=default"}, []reply{ok(example(t, "IPPool"))}, 0},
		"NotYet":   {[]string{"pool", "prod-eu", "--for", "jsonpath={.status.phase}=Draining", "--within", "0s"}, []reply{ok(example(t, "IPPool"))}, 5},
		"Refused":  {[]string{"claim", "web-eu", "--for", "bound"}, []reply{refusal(t, "ProblemPermissionDenied")}, 1},
		"NoChange": {[]string{"claim", "web-eu", "--for", "whatever"}, nil, 2},
		"NoPath":   {[]string{"claim", "web-eu", "--for", "jsonpath=.a=b"}, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t, c.script...)
			r := d.run(append([]string{"wait"}, c.args...)...)
			require.Equal(t, c.code, r.code, r.err)
			require.Len(t, d.requests(), len(c.script))
		})
	}
}
