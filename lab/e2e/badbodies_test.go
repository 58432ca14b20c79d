package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

const mebibyte = 1 << 20

// The server refuses a body that is not strict JSON, or that is not one value of the expected type.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	s.writesNothing(t, func() {
		for _, each := range s.bodies(t) {
			good, err := json.Marshal(each.body)
			require.NoError(t, err)
			if text := string(good); text == "{}" {
				continue // a body without quotes would not change
			}
			text := string(good)
			inner := text[1 : len(text)-1] // members without their braces
			for what, body := range map[string]string{
				"empty":                     "",
				"white space":               " \n\t ",
				"null":                      "null",
				"an array":                  "[" + text + "]",
				"an array of nothing":       "[]",
				"a string":                  `"x"`,
				"a number":                  "1",
				"true":                      "true",
				"no JSON":                   "name=x&cidr=10.0.0.0%2F8",
				"cut":                       text[:len(text)-1],
				"half":                      text[:len(text)/2],
				"one brace":                 "{",
				"text after it":             text + "x",
				"another value after it":    text + `{"x":1}`,
				"the same value after it":   text + "\n" + text,
				"a comma after it":          text + ",",
				"a brace after it":          text + "}",
				"U+0000 after it":           text + "\x00",
				"a comment":                 "/* x */" + text,
				"a comma too much":          "{" + inner + ",}",
				"single quotes":             strings.ReplaceAll(text, `"`, "'"),
				"no quotes":                 strings.ReplaceAll(text, `"`, ""),
				"a byte order mark":         "\ufeff" + text,
				"UTF-16":                    utf16Of(text),
				"Latin-1 in a name":         "{\"n\xe9\":1," + inner + "}",
				"U+0000 in a name":          `{"a\u0000b":1,` + inner + "}",
				"deep arrays":               `{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "," + inner + "}",
				"deep objects":              strings.Repeat(`{"spec":`, 10_000) + "1" + strings.Repeat("}", 10_000),
				"deep and never closed":     strings.Repeat("[", 100_000),
				"deep in what is not known": `{"x":` + strings.Repeat(`{"y":`, 65) + "1" + strings.Repeat("}", 65) + "," + inner + "}",
				"endless zeros":             strings.Repeat("0", 100_000),
				"an endless name":           `{"` + strings.Repeat("n", 100_000) + `":1}`,
				"many unknown names":        "{" + manyNames(2_000) + inner + "}",
			} {
				a := each.sendBody(t, s.caller, []byte(body))
				require.Equal(t, http.StatusBadRequest, a.status, "%s: %s: %s", each.op.id, what, a.body)
				s.refused(t, a, "invalid_argument")
				require.Less(t, len(a.body), 16<<10, "%s: the answer grows with the request", what)
			}
			large := append(bytes.Repeat([]byte(" "), 2*mebibyte), good...)
			for what, options := range map[string][]option{"announced": nil, "chunked": {chunked}} {
				s.refused(t, each.sendBody(t, s.caller, large, options...), "payload_too_large")
				require.Less(t, mebibyte, len(large), what)
			}
			s.refused(t, each.sendBody(t, s.caller, append(bytes.Repeat([]byte(" "), mebibyte+1-len(good)), good...)), "payload_too_large")
			limit := append(bytes.Repeat([]byte(" "), mebibyte-len(good)), good...)
			require.NotEqual(t, http.StatusRequestEntityTooLarge, each.sendBody(t, s.caller, limit, dryRun).status, "exactly 1 MiB is admitted")
		}
	})
}

func utf16Of(s string) string {
	var b bytes.Buffer
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		b.Write([]byte{byte(u >> 8), byte(u)})
	}
	return b.String()
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"n`)
		b.WriteString(strings.Repeat("x", i%7))
		b.WriteString(string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576)))
		b.WriteString(`":1,`)
	}
	return b.String()
}

// The server parses blocks and addresses once and strictly. It refuses texts that a lenient parser would read as another block.
func TestBadBlocksAndAddresses(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	components := contract().doc.Components.Schemas
	cidr, address := components["CIDR"].Value.Pattern, components["Address"].Value.Pattern
	s.writesNothing(t, func() {
		n := 0
		for _, each := range s.bodies(t) {
			_, schema := each.op.bodySchema()
			for _, p := range places(schema) {
				bad := map[string][]string{cidr: badBlocks, address: badAddresses}[p.schema.Pattern]
				for _, text := range bad {
					raw, err := json.Marshal(text)
					require.NoError(t, err)
					got := s.refused(t, each.sendBody(t, s.caller, splice(each.body, schema, p.tokens, string(raw))), "invalid_argument")
					require.Contains(t, got.pointers(), p.pointer(), "%s %q: %v", each.op.id, text, got.Errors)
					n++
				}
			}
			for _, p := range each.op.in("query") {
				bad := map[string][]string{cidr: badBlocks, address: badAddresses}[p.Schema.Value.Pattern]
				require.Empty(t, bad, "blocks in a query are tested with the lists")
			}
		}
		require.Greater(t, n, 150)
	})
}

var badBlocks = []string{
	"", "x", "10.0.0.0", "10.0.0.0/", "/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/8.0", "10.0.0.0/255.0.0.0", "10.0.0.0/8/8",
	"10.0.0.1/8", "10.20.1.0/16", "0.0.0.1/0", "255.255.255.255/31",
	"10.0.0/8", "10/8", "010.0.0.0/8", "10.0.0.00/8", "256.0.0.0/8", "0x0a.0.0.0/8", "10.0.0.0.0/8", "1e1.0.0.0/8", "10,0,0,0/8",
	" 10.0.0.0/8", "10.0.0.0/8 ", "10.0.0.0 /8", "10.0.0.0/8\n", "10.0.0.0/٨",
	"2001:db8::/129", "2001:db8::1/64", "::1/0", "2001:db8:::/32", "2001:db8::1::/64", "2001:db8/32", "[2001:db8::]/32", "2001:db8::g/64", "1:2:3:4:5:6:7:8:9/64",
	"fe80::%eth0/64", "fe80::1%1/128", "::ffff:10.0.0.0/104", "::ffff:10.0.0.1/128", "::ffff:0:0/96", "12345::/16",
}

var badAddresses = []string{
	"", "x", "10.0.0", "10.0.0.1/32", "10.0.0.256", "010.0.0.1", "0x0a000001", "167772161", "10.0.0.1 ", "10.0.0.1.", ".10.0.0.1", "10.0.0.1:80", "-1.0.0.1", "١٠.0.0.1",
	"2001:db8::1/128", "2001:db8:::1", "[2001:db8::1]", "fe80::1%eth0", "::ffff:10.0.0.1", "::ffff:a00:1", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7", "::12345",
}
