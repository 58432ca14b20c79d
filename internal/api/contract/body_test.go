package contract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestBodyIsStrictJSON(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	refused := []struct{ promise, body, pointer, detail string }{
		{"RefusesNothing", " \n", "", "is empty"},
		{"RefusesTextAfterTheValue", `{} {}`, "", "text after"},
		{"RefusesGarbageAfterTheValue", `{}x`, "", "text after"},
		{"RefusesAHalfValue", `{"spec": {"cidr"`, "", "ends in the middle"},
		{"RefusesATrailingComma", `{"a": 1,}`, "", "not valid JSON at byte 7"},
		{"RefusesAComment", `{"a": /* */ 1}`, "/a", "not valid JSON"},
		{"RefusesAByteOrderMark", "\ufeff{}", "", "not valid JSON"},
		{"RefusesANameTwice", `{"spec": {"cidr": "a", "cidr": "b"}}`, "/spec/cidr", "appears twice"},
		{"RefusesANameTwiceWhenItIsEscapedOnce", `{"spec": {"cidr": "a", "\u0063idr": "b"}}`, "/spec/cidr", "appears twice"},
		{"RefusesALabelTwice", `{"metadata": {"labels": {"a": "1", "a": "2"}}}`, "/metadata/labels/a", "appears twice"},
		{"RefusesInvalidUTF8InAString", "{\"a\": \"\xff\"}", "/a", "not valid UTF-8"},
		{"RefusesInvalidUTF8InAName", "{\"a\xc0\xaf\": 1}", "", "not valid UTF-8"},
		{"RefusesHalfASurrogatePair", `{"a": "\ud800"}`, "/a", "not valid JSON"},
		{"RefusesARawNUL", "{\"a\": \"x\x00\"}", "/a", "not valid JSON"},
		{"RefusesAnEscapedNUL", `{"spec": {"description": "x\u0000"}}`, "/spec/description", "U+0000"},
		{"RefusesANULInAName", `{"spec": {"x\u0000": 1}}`, "/spec/x\x00", "U+0000"},
		{"RefusesANULInAnArray", `["a", "\u0000"]`, "/1", "U+0000"},
		{"RefusesDeepNesting", deep(65), strings.Repeat("/a", 64), "more than 64 levels"},
		{"RefusesLongNumbers", `{"a": 1` + strings.Repeat("0", 40) + `}`, "/a", "more than 32 characters"},
		{"RefusesNumbersOutOfRange", `{"a": 1e999}`, "/a", "out of range"},
		{"RefusesIntegersWithAFraction", `{"spec": {"prefixLength": 24.0}}`, "/spec/prefixLength", "plain integer"},
		{"RefusesIntegersWithAnExponent", `[2.4e1]`, "/0", "plain integer"},
		{"RefusesNotANumber", `{"a": NaN}`, "/a", "not valid JSON"},
		{"RefusesNumbersWithAZeroInFront", `{"a": 012}`, "", "not valid JSON"},
	}
	for _, c := range refused {
		t.Run(c.promise, func(t *testing.T) {
			t.Parallel()
			_, err := new(Contract).checkBody(anyValue, []byte(c.body))
			var e *ipam.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, ipam.CodeInvalidArgument, e.Code)
			require.Len(t, e.Fields, 1)
			require.Equal(t, c.pointer, e.Fields[0].Pointer)
			require.Contains(t, e.Fields[0].Detail, c.detail)
		})
	}
	accepted := []struct{ promise, body string }{
		{"AcceptsOneObject", `{"a": {"b": [1, 2, {"c": null}]}, "d": "ü\u00e9\ud83d\ude00"}`},
		{"AcceptsWhiteSpaceAround", "\r\n {\"a\": 1} \t\n"},
		{"AcceptsEqualNamesInDifferentObjects", `{"a": {"x": 1}, "b": {"x": 1, "X2": 1}}`},
		{"AcceptsNamesAsValues", `{"a": "A", "b": "B"}`},
		{"AcceptsLabelsThatDifferInCase", `{"metadata": {"labels": {"Env": "a", "env": "b"}}}`},
		{"AcceptsParametersThatDifferInCase", `{"spec": {"parameters": {"Tier": "a", "tier": "b"}}}`},
		{"AcceptsRolesThatDifferInCase", `{"spec": {"scope": {"Cluster": "a", "cluster": "b"}}, "status": {"scope": {"values": {"Cluster": "a", "cluster": "b"}}}}`},
		{"AcceptsAFraction", `{"status": {"utilizationPercent": 25.41}}`},
		{"AcceptsNestingToTheBound", deep(64)},
	}
	for _, c := range accepted {
		t.Run(c.promise, func(t *testing.T) {
			t.Parallel()
			_, err := new(Contract).checkBody(anyValue, []byte(c.body))
			require.NoError(t, err)
		})
	}
}

func FuzzBodyNeverPanics(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\u0000"}]}`, `{"a":1,"A":2}`, `{}{}`, "[\xff]", `[[[[`, `{"a":24.0}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := new(Contract).checkBody(anyValue, data)
		if err != nil {
			require.True(t, ipam.IsCode(err, ipam.CodeInvalidArgument))
		}
	})
}
