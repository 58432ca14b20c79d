package licences

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// bannerNames maps the names that authors use for a licence in a comment to the licence's identifier.
var bannerNames = []struct {
	way *regexp.Regexp
	id  string
}{
	{regexp.MustCompile(`\bMIT\b`), "MIT"},
	{regexp.MustCompile(`\bBSD-3-Clause\b`), "BSD-3-Clause"},
	{regexp.MustCompile(`(?i)\bApache(-| licen[cs]e,? (version )?)2\.0\b`), "Apache-2.0"},
	{regexp.MustCompile(`(?i)\b(Mozilla Public License,? (version )?2\.0|MPL-2\.0)\b`), "MPL-2.0"},
	{regexp.MustCompile(`\bISC\b`), "ISC"},
	{regexp.MustCompile(`\b(L|A)?GPL\b`), "GPL"},
}

var remark = regexp.MustCompile(`(?s)/\*.*?\*/`)

// banner reads the comments that a bundler collected. Each comment must name a known licence. If a comment names two licences, both apply, because
// that is the stricter reading.
func banner(text string) ([]string, error) {
	var ids []string
	remarks := remark.FindAllString(text, -1)
	if len(remarks) == 0 {
		return nil, errors.New("there are no remarks in it")
	}
	for _, r := range remarks {
		named := false
		for _, n := range bannerNames {
			if n.way.MatchString(r) {
				named, ids = true, append(ids, n.id)
			}
		}
		if !named {
			return nil, fmt.Errorf("no known licence is named in %q", strings.Join(strings.Fields(r), " "))
		}
	}
	return ids, nil
}
