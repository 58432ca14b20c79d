package tenancy_test

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestTokenContainsItsIDAndItsSecret(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^carve_[0-9a-f]{32}_[a-z2-7]{52}$`)
	seen := map[tenancy.Secret]bool{}
	for range 1000 {
		id := ipam.NewID()
		token, secret := tenancy.NewToken(id)
		require.Regexp(t, form, token)
		require.Contains(t, token, strings.ReplaceAll(id.String(), "-", ""))
		gotID, gotSecret, ok := tenancy.ParseToken(token)
		require.True(t, ok)
		require.Equal(t, id, gotID)
		require.Equal(t, secret, gotSecret)
		require.False(t, seen[secret], "no secret twice")
		seen[secret] = true
	}
}

func TestParseTokenRefusesMalformedTokens(t *testing.T) {
	t.Parallel()
	token, _ := tenancy.NewToken(ipam.NewID())
	id, word := token[6:38], token[39:]
	for name, s := range map[string]string{
		"Empty":                "",
		"PrefixAlone":          "carve_",
		"AnotherPrefix":        "Carve_" + id + "_" + word,
		"NoPrefix":             id + "_" + word,
		"UpperCaseID":          "carve_" + "ABCDEFABCDEFABCDEFABCDEFABCDEFAB" + "_" + word,
		"IDWithHyphens":        "carve_" + ipam.NewID().String() + "_" + word,
		"IDThatIsNotHex":       "carve_" + "g" + id[1:] + "_" + word,
		"UpperCaseSecret":      "carve_" + id + "_" + strings.ToUpper(word),
		"SecretWithPadding":    "carve_" + id + "_" + word + "====",
		"SecretTooShort":       "carve_" + id + "_" + word[1:],
		"SecretTooLong":        "carve_" + id + "_" + word + "a",
		"SecretWithAnotherSet": "carve_" + id + "_" + "0" + word[1:],
		"SecretWithLineEnd":    "carve_" + id + "_" + word[:51] + "\n",
		"SpaceInFront":         " " + token,
		"LineEndBehind":        token + "\n",
		"AnotherSeparator":     "carve_" + id + "-" + word,
		"Zero":                 strings.Repeat("\x00", len(token)),
		"TwoTokens":            token + token,
		"OneMegabyte":          "carve_" + strings.Repeat("a", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gotID, secret, ok := tenancy.ParseToken(s)
			require.False(t, ok)
			require.Zero(t, gotID)
			require.Zero(t, secret)
		})
	}
}

// The last digit of a secret contains one bit of the secret, and four bits that must be zero. A token with other values of these four bits is not
// valid.
func TestTokenHasOneTextForm(t *testing.T) {
	t.Parallel()
	token, _ := tenancy.NewToken(ipam.NewID())
	accepted := 0
	for _, last := range "abcdefghijklmnopqrstuvwxyz234567" {
		if _, _, ok := tenancy.ParseToken(token[:len(token)-1] + string(last)); ok {
			accepted++
		}
	}
	require.Equal(t, 2, accepted)
}

func TestHashCoversOnlyTheSecret(t *testing.T) {
	t.Parallel()
	_, secret := tenancy.NewToken(ipam.NewID())
	sum := sha256.Sum256(secret[:])
	require.Equal(t, sum[:], tenancy.HashSecret(secret))
	_, other := tenancy.NewToken(ipam.NewID())
	require.NotEqual(t, tenancy.HashSecret(secret), tenancy.HashSecret(other))
}

func TestFormattedSecretIsHidden(t *testing.T) {
	t.Parallel()
	_, secret := tenancy.NewToken(ipam.NewID())
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.Equal(t, "[secret]", fmt.Sprintf(verb, secret))
	}
}

func FuzzParseToken(f *testing.F) {
	token, _ := tenancy.NewToken(ipam.NewID())
	f.Add(token)
	f.Add("carve__")
	f.Fuzz(func(t *testing.T, s string) {
		id, secret, ok := tenancy.ParseToken(s)
		if !ok {
			require.Zero(t, id)
			return
		}
		require.Len(t, s, 91)
		again, sameHash, ok := tenancy.ParseToken(s)
		require.True(t, ok && again == id && sameHash == secret)
		require.Equal(t, "carve_"+strings.ReplaceAll(id.String(), "-", "")+"_", s[:39])
	})
}
