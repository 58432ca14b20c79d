package session

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormattedCredentialsHideTheirSecret(t *testing.T) {
	t.Parallel()
	const secret = "thesecretthatmustneverbeseenanywhereatallinanyoutput"
	key := Token("carve_0123456789abcdef0123456789abcdef_" + secret)
	for _, v := range []any{key, struct{ Key Token }{key}, []Token{key}, Setting{APIKey: key}, Contexts{Contexts: map[string]Setting{"a": {APIKey: key}}}} {
		for _, verb := range []string{"%v", "%+v", "%s", "%#v"} {
			require.NotContains(t, fmt.Sprintf(verb, v), secret, verb)
		}
	}
}
