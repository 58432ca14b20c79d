package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The number of requests: 10,000 in total, by all callers.
const (
	roleFuzzSeeds = 4
	roleFuzzEach  = 2500
)

// Callers in each role of two projects send random requests. Callers without credentials and with random credentials do the same. No response may be
// a 5xx. If a response contains a word of the other project, the request must contain that word. Each invariant must hold afterwards.
func TestFuzzOfEveryRole(t *testing.T) {
	t.Parallel()
	first, n := uint64(1), uint64(roleFuzzSeeds)
	if text := os.Getenv(fuzzSeedEnv); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		first, n = seed, 1
	}
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprintf("Seed%d", seed), func(t *testing.T) {
			t.Parallel()
			newRoleFuzz(t, seed).run(t, seed)
		})
	}
}

// roleFuzz is a fuzzer that sends its requests as many callers.
type roleFuzz struct {
	*fuzzer
	town    *town
	callers []*caller
	names   []string // of the callers
}

func newRoleFuzz(t testing.TB, seed uint64) *roleFuzz {
	t.Helper()
	w := setupKeys(t)
	stage := furnish(t, w)
	town := &town{world: w, north: w.settle(t, "north", "quokka", "numbat"), south: w.settle(t, "south", "wombat", "dugong")}
	f := &roleFuzz{fuzzer: &fuzzer{Rand: rand.New(rand.NewPCG(seed, 1)), stage: stage, specimens: stage.specimens(t)}, town: town}
	// These words are in no request, so the other tenant must not receive them.
	town.north.hearsNot(town.south.secret)
	town.south.hearsNot(town.north.secret)
	for _, p := range []*tenant{town.north, town.south} {
		for _, role := range roles {
			f.callers, f.names = append(f.callers, p.by[role]), append(f.names, role+" of "+p.project)
		}
	}
	for _, p := range []*tenant{town.north, town.south} {
		p.share(t, "default", "shared")
	}
	town.north.grant(t, "default", "south")
	town.south.grant(t, "default", "north")
	f.openCommons(t)
	nobody := w.as("", append(slices.Collect(maps.Values(commons)), town.north.secret, town.south.secret)...)
	f.callers, f.names = append(f.callers, nobody), append(f.names, "nobody")
	return f
}

func (f *roleFuzz) run(t *testing.T, seed uint64) {
	t.Helper()
	accepted := map[string]int{}
	for i := range roleFuzzEach {
		who := f.IntN(len(f.callers))
		c := f.callers[who]
		each := f.transposed(pick(f.fuzzer, f.specimens), false)
		if f.IntN(4) == 0 {
			each = f.transposed(pick(f.fuzzer, f.claiming()), true)
		}
		method, path, body, options := f.broken(each)
		if f.IntN(2) == 0 { // a valid request of an authorized caller
			method, path, body, options = each.op.method, each.path, nil, each.always()
			if each.body != nil {
				body = marshal(each.body)
			}
		}
		if f.IntN(20) == 0 {
			if forged := f.credentials(); !f.good(forged) {
				c = f.callers[len(f.callers)-1] // the last caller may see nothing
				options = append(options, header("Authorization", forged))
			}
		}
		var sent any
		if body != nil {
			sent = body
		}
		a, err := c.try(t.Context(), t, method, path, sent, options...)
		if err != nil {
			t.Errorf("no answer: %v", err)
		}
		if a.ok() {
			accepted[f.names[who]]++
		}
		if t.Failed() {
			t.Fatalf("request %d, by %s, from %s: %s %s %s\n%s=%d runs this again", i, f.names[who], each, method, short([]byte(path)), short(body), fuzzSeedEnv, seed)
		}
	}
	drawn := f.fromCommons(t)
	t.Logf("seed %d: accepted were %v, claims by shared classes %v", seed, accepted, drawn)
	for class := range commons {
		require.Positive(t, drawn[class], "no claim was bound by %s: the pool behind it could not have been named", class)
	}
	for _, name := range f.names[:len(f.names)-1] {
		require.Greater(t, accepted[name], 10, "%s: what is always refused at the door tests nothing", name)
	}
}

// transposed changes a specimen: it uses a tenant's project and existing names, or it becomes a claim by class.
func (f *roleFuzz) transposed(each specimen, byClass bool) specimen {
	p := f.town.north
	if f.IntN(2) == 0 {
		p = f.town.south
	}
	other := p
	if f.IntN(3) == 0 { // names of one tenant in a path of the other
		if other = f.town.south; p == f.town.south {
			other = f.town.north
		}
	}
	class, scoped := other.named("class"), other.named("scoped")
	if f.IntN(3) == 0 {
		class, scoped = "scarce", "commune"
	}
	names := strings.NewReplacer(
		f.stage.names["project"], p.project, "standard", class, "per-cluster", scoped,
		"prod-eu-k8s", other.named("child"), "prod-eu", "default", "web-eu", other.named("claim"), "lab", other.named("space"), "shared-eu", other.named("quota"),
		"pipeline", other.named("spare"), otherProject, other.named("friend"), "10.20.", "10.0.", "platform", other.project,
	)
	if each.path = names.Replace(each.path); byClass {
		each = f.byClass(each, p, other)
	}
	if each.body != nil {
		each.body = replaceAll(each.body, names).(obj)
	}
	query := maps.Clone(each.query)
	for name, value := range query {
		query[name] = names.Replace(value)
	}
	each.query = query
	return each
}

// replaceAll replaces names in every string of a value.
func replaceAll(v any, names *strings.Replacer) any {
	switch v := v.(type) {
	case obj:
		out := obj{}
		for name, each := range v {
			out[name] = replaceAll(each, names)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = replaceAll(out[i], names)
		}
		return out
	case string:
		return names.Replace(v)
	default:
		return v
	}
}

// good reports whether credentials are valid.
func (f *roleFuzz) good(credentials string) bool {
	return slices.ContainsFunc(f.callers, func(c *caller) bool { return c.token != "" && credentials == "Bearer "+c.token })
}

// credentials returns wrong credentials, or changed credentials of another caller, if a header can contain them.
func (f *roleFuzz) credentials() string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, f.anyCredentials())
}

func (f *roleFuzz) anyCredentials() string {
	switch token := f.callers[f.IntN(len(f.callers)-1)].token; f.IntN(5) {
	case 0:
		return "Bearer " + string(f.garble([]byte(token)))
	case 1:
		return f.word()
	case 2:
		return "Bearer " + f.word()
	case 3:
		return "Basic " + token
	default:
		return "Bearer " + token[:38] + f.callers[f.IntN(len(f.callers)-1)].token[38:]
	}
}
