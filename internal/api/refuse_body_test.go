package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
)

const (
	poolsPath  = "/v1/projects/team-a/pools"
	claimsPath = "/v1/projects/team-a/claims"
	batches    = "/v1/projects/team-a/claim-batches"
	tag        = `"6f1c2a34-98d1-4b7e-8a55-0c1d7f3e2b90"`
)

// The server refuses each body before it calls a use case. The error is invalid_argument and points to the fault.
func TestBadBodiesAreRefused(t *testing.T) {
	t.Parallel()
	pool := func(spec string) string { return `{"metadata": {"name": "p"}, "spec": {` + spec + `}}` }
	claim := func(spec string) string {
		return `{"metadata": {"name": "c"}, "spec": {"poolRef": {"name": "p"}, ` + spec + `}}`
	}
	reservation := func(r string) string { return pool(`"cidr": "10.0.0.0/8", "reservations": [` + r + `]`) }
	class := func(spec string) string {
		return `{"metadata": {"name": "c"}, "spec": {"ipFamily": "IPv4", ` + spec + `}}`
	}
	cases := []struct{ promise, method, path, body, pointer, detail string }{
		{"RefusesAMalformedCIDR", "POST", poolsPath, pool(`"cidr": "10.0.0.0"`), "/spec/cidr", "is an address without a length; write 10.0.0.0/32"},
		{"RefusesWordsForACIDR", "POST", poolsPath, pool(`"cidr": "ten slash eight"`), "/spec/cidr", "is not a CIDR such as"},
		{"RefusesAMaskInACIDR", "POST", poolsPath, pool(`"cidr": "10.0.0.0/255.255.255.0"`), "/spec/cidr", "has a mask instead of a length; write 10.0.0.0/24"},
		{"RefusesAZoneInACIDR", "POST", poolsPath, pool(`"cidr": "fe80::%eth0/64"`), "/spec/cidr", "has a zone, which names an interface of one machine; write fe80::/64"},
		{"RefusesABlankBehindACIDR", "POST", poolsPath, pool(`"cidr": "10.0.0.0/24 "`), "/spec/cidr", "has blanks around it; write 10.0.0.0/24"},
		{"RefusesAnImpossibleCIDR", "POST", poolsPath, pool(`"cidr": "10.0.0.0/33"`), "/spec/cidr", "write 10.0.0.0/32 for the address alone"},
		{"RefusesHostBits", "POST", poolsPath, pool(`"cidr": "10.0.0.1/8"`), "/spec/cidr", "did you mean 10.0.0.0/8?"},
		{"RefusesMappedAddresses", "POST", poolsPath, pool(`"cidr": "::ffff:10.0.0.0/104"`), "/spec/cidr", "write it as IPv4"},
		{"RefusesAMalformedAddress", "POST", claimsPath, claim(`"address": "10.0.0.256"`), "/spec/address", "is not an IP address"},
		{"RefusesAZone", "POST", claimsPath, claim(`"address": "fe80::1%eth0"`), "/spec/address", "has a zone"},
		{"RefusesHostBitsInAReservation", "POST", poolsPath, reservation(`{"first": 1}, {"cidr": "10.0.0.1/31"}`), "/spec/reservations/1/cidr", "did you mean 10.0.0.0/31?"},
		{"RefusesAReservationFromNowhere", "POST", poolsPath, reservation(`{"from": "10", "to": "10.0.0.1"}`), "/spec/reservations/0/from", "is not an IP address"},
		{"RefusesAReservationOfTooMany", "POST", poolsPath, reservation(`{"first": 65537}`), "/spec/reservations/0/first", "must be 1 to 65536."},
		{"RefusesTooManyReservations", "POST", poolsPath, reservation(`{"first":1}` + strings.Repeat(`,{"first":1}`, 64)), "/spec/reservations", "at most 64 items"},
		{"RefusesAnotherFamily", "POST", claimsPath, claim(`"ipFamily": "IPv5"`), "/spec/ipFamily", "must be one of IPv4, IPv6."},
		{"RefusesALengthOutOfRange", "POST", claimsPath, claim(`"prefixLength": 129`), "/spec/prefixLength", "must be 0 to 128."},
		{"RefusesANegativeLength", "POST", claimsPath, claim(`"prefixLength": -1`), "/spec/prefixLength", "must be 0 to 128."},
		{"RefusesAHugeLength", "POST", claimsPath, claim(`"prefixLength": 99999999999999999999`), "/spec/prefixLength", "must be 0 to 128."},
		{"RefusesHalfALength", "POST", claimsPath, claim(`"prefixLength": 24.5`), "/spec/prefixLength", "must be an integer, 0 to 128."},
		{"RefusesALengthWithAFraction", "POST", claimsPath, claim(`"prefixLength": 24.0`), "/spec/prefixLength", "plain integer"},
		{"RefusesALengthAsText", "POST", claimsPath, claim(`"prefixLength": "24"`), "/spec/prefixLength", "must be an integer, 0 to 128."},
		{"RefusesNull", "POST", claimsPath, claim(`"prefixLength": null`), "/spec/prefixLength", "must not be null"},
		{"RefusesAListForAnObject", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": []}`, "/spec", "must be an object."},
		{"RefusesAListAtTheTop", "POST", claimsPath, `[]`, "", "must be an object."},
		{"RefusesAMissingSpec", "POST", claimsPath, `{"metadata": {"name": "c"}}`, "/spec", "is required."},
		{"RefusesANamelessReference", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"poolRef": {}}}`, "/spec/poolRef/name", "is required."},
		{"RefusesABadNameInAReference", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"poolRef": {"name": "A b"}}}`, "/spec/poolRef/name", "must be a DNS label"},
		{"RefusesABadName", "POST", claimsPath, `{"metadata": {"name": "-c"}, "spec": {}}`, "/metadata/name", "must be a DNS label"},
		{"RefusesNeitherNameNorPrefix", "POST", claimsPath, `{"metadata": {}, "spec": {"poolRef": {"name": "p"}}}`, "/metadata", "exactly one of name and generateName"},
		{"RefusesNameAndPrefix", "POST", claimsPath, `{"metadata": {"name": "a", "generateName": "b-"}, "spec": {"poolRef": {"name": "p"}}}`, "/metadata", "exactly one of name and generateName"},
		{"RefusesABadPrefixOfAName", "POST", claimsPath, `{"metadata": {"generateName": "-"}, "spec": {"poolRef": {"name": "p"}}}`, "/metadata/generateName", "must begin with"},
		{"RefusesAnUnknownField", "POST", claimsPath, claim(`"prefix": 24`), "/spec/prefix", "is not a field; the fields are address,"},
		{"RefusesAnUnknownFieldAtTheTop", "POST", claimsPath, `{"kind": "IPClaim", "metadata": {"name": "c"}, "spec": {"poolRef": {"name": "p"}}}`, "/kind", "the fields are metadata, spec."},
		{"RefusesAFieldInAnotherCase", "POST", claimsPath, claim(`"PrefixLength": 24`), "/spec/PrefixLength", "did you mean prefixLength?"},
		{"RefusesTheBypass", "POST", claimsPath, claim(`"prefixLength": 24, "PrefixLength": 99`), "/spec/PrefixLength", "did you mean prefixLength?"},
		{"RefusesAServerOwnedField", "POST", claimsPath, `{"metadata": {"name": "c", "uid": "x"}, "spec": {"poolRef": {"name": "p"}}}`, "/metadata/uid", "is set by the server"},
		{"RefusesAServerOwnedFieldOfABatch", "POST", "/v1/projects/team-a/claim-batches", `{"claims": [{"metadata": {"name": "c", "createdBy": "x"}, "spec": {"poolRef": {"name": "p"}}}]}`, "/claims/0/metadata/createdBy", "is set by the server"},
		{"SuggestsTheField", "POST", claimsPath, claim(`"prefixLenght": 24`), "/spec/prefixLenght", "is not a field; did you mean prefixLength? The fields are address,"},
		{"SuggestsTheFieldForAShortName", "POST", claimsPath, claim(`"cdir": "10.0.0.0/24"`), "/spec/cdir", "is not a field; did you mean cidr? The fields are address,"},
		{"RefusesAStatus", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"poolRef": {"name": "p"}}, "status": {}}`, "/status", "is set by the server"},
		{"RefusesADuplicateField", "POST", claimsPath, claim(`"prefixLength": 24, "prefixLength": 25`), "/spec/prefixLength", "appears twice"},
		{"RefusesNUL", "POST", claimsPath, claim(`"ownerRef": {"name": "a\u0000b"}`), "/spec/ownerRef/name", "U+0000"},
		{"RefusesControlCharacters", "POST", claimsPath, claim(`"ownerRef": {"name": "a\u001bb"}`), "/spec/ownerRef/name", "control characters"},
		{"RefusesInvalidUTF8", "POST", claimsPath, claim("\"ownerRef\": {\"name\": \"\xff\"}"), "/spec/ownerRef/name", "not valid UTF-8"},
		{"RefusesTextAfterTheValue", "POST", claimsPath, claim(`"prefixLength": 24`) + `{"x": 1}`, "", "text after"},
		{"RefusesABadLabel", "POST", claimsPath, `{"metadata": {"name": "c", "labels": {"a/b": "no spaces"}}, "spec": {}}`, "/metadata/labels/a~1b", "must be empty or 1 to 63"},
		{"RefusesTooManyLabels", "POST", claimsPath, `{"metadata": {"name": "c", "labels": {` + manyLabels(65) + `}}, "spec": {}}`, "/metadata/labels", "at most 64 entries"},
		{"RefusesALongText", "POST", poolsPath, pool(`"description": "` + strings.Repeat("x", 1025) + `"`), "/spec/description", "at most 1024 characters"},
		{"RefusesABadSelectorKey", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"poolSelector": {"matchExpressions": [{"key": "?", "operator": "Exists"}]}}}`, "/spec/poolSelector/matchExpressions/0/key", "is not a label key"},
		{"RefusesAnUnknownOperator", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"poolSelector": {"matchExpressions": [{"key": "a", "operator": "Gt"}]}}}`, "/spec/poolSelector/matchExpressions/0/operator", "must be one of In, NotIn"},
		{"RefusesABadAllocation", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"allocationRef": {"name": "1"}}}`, "/spec/allocationRef/name", "must be a UUID in lower case."},
		{"RefusesANameOtherThanInThePath", "PUT", claimsPath + "/c", `{"metadata": {"name": "d"}, "spec": {"poolRef": {"name": "p"}}}`, "/metadata/name", "is not the name in the path"},
		{"RefusesAnEmptyBatch", "POST", batches, `{"claims": []}`, "/claims", "at least 1 item."},
		{"RefusesABadClaimInABatch", "POST", batches, `{"claims": [{"metadata": {"name": "a"}, "spec": {}}, {"metadata": {"name": "b"}, "spec": {"cidr": "10.0.0.1/8"}}]}`, "/claims/1/spec/cidr", "did you mean 10.0.0.0/8?"},
		{"RefusesANamelessClaimInABatch", "POST", batches, `{"claims": [{"metadata": {}, "spec": {}}]}`, "/claims/0/metadata", "exactly one of"},
		{"RefusesANullPatch", "PATCH", poolsPath + "/p", `null`, "", "must not be null"},
		{"RefusesABadStrategyInAPatch", "PATCH", poolsPath + "/p", `{"spec": {"allocation": {"strategy": "Best"}}}`, "/spec/allocation/strategy", "must be one of FirstFit"},
		{"RefusesADuplicateFieldInAPatch", "PATCH", poolsPath + "/p", `{"spec": {"description": "a", "description": "b"}}`, "/spec/description", "appears twice"},
		{"RefusesAnUnknownRole", "PUT", members + "/a", `{"spec": {"role": "owner"}}`, "/spec/role", "must be one of viewer, consumer, provider, admin."},
		{"RefusesAMemberWithoutARole", "PUT", members + "/a", `{"spec": {}}`, "/spec/role", "is required."},
		{"RefusesAMemberWithAName", "PUT", members + "/a", `{"metadata": {"name": "a"}, "spec": {"role": "viewer"}}`, "/metadata", "is not a field; the fields are spec."},
		{"RefusesAKeyWithAToken", "POST", keys, `{"metadata": {"name": "k"}, "spec": {"role": "viewer"}, "token": "carve_"}`, "/token", "is not a field"},
		{"RefusesAKeyThatExpiresOnADay", "POST", keys, `{"metadata": {"name": "k"}, "spec": {"role": "viewer", "expiresAt": "2100-01-01"}}`, "/spec/expiresAt", "must be a time from 1970 to 9999"},
		{"RefusesAKeyThatExpiresOnAnInvalidDay", "POST", keys, `{"metadata": {"name": "k"}, "spec": {"role": "viewer", "expiresAt": "2101-02-29T00:00:00Z"}}`, "/spec/expiresAt", "must be a time"},
		{"RefusesAKeyThatExpiresAtTheZeroOfTime", "POST", keys, `{"metadata": {"name": "k"}, "spec": {"role": "admin", "expiresAt": "0001-01-01T00:00:00Z"}}`, "/spec/expiresAt", "must be a time from 1970"},
		{"RefusesAKeyThatExpiresTooLate", "POST", keys, `{"metadata": {"name": "k"}, "spec": {"role": "admin", "expiresAt": "9999-12-31T23:59:59-12:00"}}`, "/spec/expiresAt", "must be a time from 1970 to 9999"},
		{"RefusesATimeAsANumber", "POST", keys, `{"metadata": {"name": "k"}, "spec": {"role": "viewer", "expiresAt": 4102444800}}`, "/spec/expiresAt", "must be a string."},
		{"RefusesATimeOfNull", "POST", keys, `{"metadata": {"name": "k"}, "spec": {"role": "viewer", "expiresAt": null}}`, "/spec/expiresAt", "must not be null"},
		{"RefusesAQuotaOfNothing", "PUT", quotas + "/q", `{"spec": {"limits": {}}}`, "/spec/limits", "at least 1 entry."},
		{"RefusesAQuotaWithoutLimits", "PUT", quotas + "/q", `{"spec": {}}`, "/spec/limits", "is required."},
		{"RefusesANegativeQuota", "PUT", quotas + "/q", `{"spec": {"limits": {"claims": -1}}}`, "/spec/limits/claims", "must be 0 to 9007199254740991."},
		{"RefusesAddressesAsANumber", "PUT", quotas + "/q", `{"spec": {"limits": {"addresses": 4096}}}`, "/spec/limits/addresses", "must be a string."},
		{"RefusesNegativeAddresses", "PUT", quotas + "/q", `{"spec": {"limits": {"addresses": "-1"}}}`, "/spec/limits/addresses", "must be a whole number, written in digits."},
		{"RefusesAddressesOfNothing", "PUT", quotas + "/q", `{"spec": {"limits": {"addresses": ""}}}`, "/spec/limits/addresses", "whole number"},
		{"RefusesAddressesBeyondIPv6", "PUT", quotas + "/q", `{"spec": {"limits": {"addresses": "` + strings.Repeat("9", 49) + `"}}}`, "/spec/limits/addresses", "at most 48 characters"},
		{"RefusesAQuotaOfAnUnknownScope", "PUT", quotas + "/q", `{"spec": {"scope": {"class": "a"}, "limits": {"claims": 1}}}`, "/spec/scope/class", "the fields are classRef, ipFamily, poolRef."},
		{"RefusesAClassWithoutAFamily", "POST", classes, `{"metadata": {"name": "c"}, "spec": {}}`, "/spec/ipFamily", "is required."},
		{"RefusesAClassOfAnotherFamily", "POST", classes, `{"metadata": {"name": "c"}, "spec": {"ipFamily": "IPv5"}}`, "/spec/ipFamily", "must be one of IPv4, IPv6."},
		{"RefusesAnotherProvisioner", "POST", classes, class(`"provisioner": "infoblox"`), "/spec/provisioner", "must be native."},
		{"RefusesAnUnknownVisibility", "POST", classes, class(`"visibility": "public"`), "/spec/visibility", "must be one of platform, consumer, shared."},
		{"RefusesAnUnknownOrderOfPools", "POST", classes, class(`"poolSelection": "Random"`), "/spec/poolSelection", "must be one of FirstFit, LeastUtilized."},
		{"RefusesADefaultAsText", "POST", classes, class(`"isDefault": "yes"`), "/spec/isDefault", "must be true or false."},
		{"RefusesAnAllowedLengthOutOfRange", "POST", classes, class(`"allowedPrefixLengths": {"min": 129}`), "/spec/allowedPrefixLengths/min", "must be 0 to 128."},
		{"RefusesAnUnknownBound", "POST", classes, class(`"allowedPrefixLengths": {"minimum": 24}`), "/spec/allowedPrefixLengths/minimum", "the fields are max, min."},
		{"RefusesABareNumberForADuration", "POST", classes, class(`"reuseAfter": 72`), "/spec/reuseAfter", "must be a string."},
		{"RefusesADurationWithoutAUnit", "POST", classes, class(`"reuseAfter": "5"`), "/spec/reuseAfter", "must be a duration in whole hours, minutes and seconds, such as 72h"},
		{"RefusesAnEmptyDuration", "POST", classes, class(`"reuseAfter": ""`), "/spec/reuseAfter", "must be a duration"},
		{"RefusesDays", "POST", classes, class(`"reuseAfter": "3d"`), "/spec/reuseAfter", "must be a duration"},
		{"RefusesPartsOfASecond", "POST", classes, class(`"emptyPoolTTL": "1.5h"`), "/spec/emptyPoolTTL", "must be a duration"},
		{"RefusesANegativeDuration", "POST", poolsPath, pool(`"cidr": "10.0.0.0/8", "reuseAfter": "-1h"`), "/spec/reuseAfter", "must be a duration"},
		{"RefusesAnEndlessDuration", "POST", poolsPath, pool(`"cidr": "10.0.0.0/8", "reuseAfter": "` + strings.Repeat("9", 30) + `h"`), "/spec/reuseAfter", "must be a duration"},
		{"RefusesABadDurationInAPatch", "PATCH", classes + "/c", `{"spec": {"reuseAfter": "9"}}`, "/spec/reuseAfter", "must be a duration"},
		{"RefusesScopesOfNothing", "POST", classes, class(`"poolPer": []`), "/spec/poolPer", "at least 1 item."},
		{"RefusesABadRole", "POST", classes, class(`"poolPer": ["project", "a/b"]`), "/spec/poolPer/1", "must be the name of a role: 1 to 63 characters"},
		{"RefusesARoleTwice", "POST", classes, class(`"poolPer": ["project", "a", "a"]`), "/spec/poolPer", "must not repeat an item."},
		{"RefusesTooManyRoles", "POST", classes, class(`"poolPer": ["project", "a", "b", "c", "d", "e", "f", "g", "h"]`), "/spec/poolPer", "at most 8 items"},
		{"RefusesALongParameter", "POST", classes, class(`"parameters": {"a/b": "` + strings.Repeat("x", 257) + `"}`), "/spec/parameters/a~1b", "at most 256 characters"},
		{"RefusesTooManyParameters", "POST", classes, class(`"parameters": {` + manyLabels(33) + `}`), "/spec/parameters", "at most 32 entries"},
		{"RefusesANumberForAParameter", "POST", classes, class(`"parameters": {"a": 1}`), "/spec/parameters/a", "must be a string."},
		{"RefusesAStatusOfAClass", "POST", classes, `{"metadata": {"name": "c"}, "spec": {"ipFamily": "IPv4"}, "status": {}}`, "/status", "is set by the server"},
		{"RefusesABadNameOfAClass", "POST", poolsPath, pool(`"cidr": "10.0.0.0/8", "classNames": ["gold", "Silver"]`), "/spec/classNames/1", "must be a DNS label"},
		{"RefusesAClassTwice", "POST", poolsPath, pool(`"cidr": "10.0.0.0/8", "classNames": ["gold", "gold"]`), "/spec/classNames", "must not repeat an item."},
		{"RefusesTooManyClasses", "PATCH", poolsPath + "/p", `{"spec": {"classNames": ["a"` + strings.Repeat(`, "a"`, 32) + `]}}`, "/spec/classNames", "at most 32 items"},
		{"RefusesAClaimByABadName", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"className": "Gold"}}`, "/spec/className", "must be a DNS label"},
		{"RefusesAClassAsAReference", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"className": {"name": "gold"}}}`, "/spec/className", "must be a string."},
		{"RefusesABadValueInAScope", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"className": "gold", "scope": {"cluster": "a b"}}}`, "/spec/scope/cluster", "must be empty or 1 to 63"},
		{"RefusesTooManyRolesInAScope", "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"scope": {` + manyLabels(9) + `}}}`, "/spec/scope", "at most 8 entries"},
		{"RefusesToExplainNothing", "POST", explanations, `{}`, "/spec", "is required."},
		{"RefusesToExplainHostBits", "POST", explanations, `{"spec": {"cidr": "10.0.0.1/8"}}`, "/spec/cidr", "did you mean 10.0.0.0/8?"},
		{"RefusesAScopeOfAQuotaInTwoCases", "PUT", quotas + "/q", `{"spec": {"scope": {"poolRef": {"name": "a"}, "PoolRef": {"name": "b"}}, "limits": {"claims": 1}}}`, "/spec/scope/PoolRef", "did you mean poolRef?"},
		{"RefusesAQuotaOfANamelessClass", "PUT", quotas + "/q", `{"spec": {"scope": {"classRef": {}}, "limits": {"claims": 1}}}`, "/spec/scope/classRef/name", "is required."},
		{"RefusesABodyOfAGrant", "PUT", poolsPath + "/p/grants/team-b", `{"spec": {"consumer": "team-b"}}`, "", "must be left out"},
		{"RefusesAnUnexpectedBody", "DELETE", poolsPath + "/p", `{}`, "", "must be left out"},
	}
	s := serve(t, api.Config{})
	for _, c := range cases {
		t.Run(c.promise, func(t *testing.T) {
			t.Parallel()
			var guarded []string
			if c.method != http.MethodPost {
				guarded = []string{"If-Match", tag}
			}
			w := s.do(t, c.method, c.path, c.body, guarded...)
			p := problem(t, w, http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
			require.NotEmpty(t, p.Errors)
			require.Equal(t, c.pointer, p.Errors[0].Pointer, p.Errors)
			require.Contains(t, p.Errors[0].Detail, c.detail)
			for _, library := range []string{"schema", "regular expression", "kin-openapi", "json:", "unmarshal"} {
				require.NotContains(t, strings.ToLower(w.Body.String()), library)
			}
		})
	}
}

func manyLabels(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + strings.Repeat("x", i) + `":""`)
	}
	return b.String()
}

func TestUpToTwentyFieldErrorsAreReported(t *testing.T) {
	t.Parallel()
	s := serve(t, api.Config{})

	t.Run("SeveralErrors", func(t *testing.T) {
		t.Parallel()
		w := s.do(t, "POST", claimsPath+"?dryRun=maybe&nope=1", `{"metadata": {"name": "C"}, "spec": {"prefixLength": -1, "x": 1}}`)
		p := problem(t, w, http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		var places []string
		for _, e := range p.Errors {
			places = append(places, e.Pointer)
		}
		require.Equal(t, []string{"query:dryRun", "query:nope", "/metadata/name", "/spec/prefixLength", "/spec/x"}, places)
	})

	t.Run("AtMostTwenty", func(t *testing.T) {
		t.Parallel()
		item := `{"metadata": {"name": "C"}, "spec": {"prefixLength": -1}}`
		w := s.do(t, "POST", batches, `{"claims": [`+item+strings.Repeat(","+item, 999)+`]}`)
		p := problem(t, w, http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		require.Len(t, p.Errors, 20)
	})

	t.Run("WithoutEchoingLongValues", func(t *testing.T) {
		t.Parallel()
		w := s.do(t, "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"`+strings.Repeat("x", 100_000)+`": 1}}`)
		problem(t, w, http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		require.Less(t, w.Body.Len(), 2000)
	})
}
