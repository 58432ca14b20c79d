package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// typed returns the error in err that has type T, and whether err contains one.
func typed[T error](err error) (any, bool) {
	found, ok := errors.AsType[T](err)
	return found, ok
}

var types = map[client.ProblemCode]func(error) (any, bool){
	client.ProblemCodeInvalidArgument:      typed[*client.InvalidArgument],
	client.ProblemCodeAlreadyExists:        typed[*client.AlreadyExists],
	client.ProblemCodeOverlap:              typed[*client.Overlap],
	client.ProblemCodeInUse:                typed[*client.InUse],
	client.ProblemCodeAllocationRetained:   typed[*client.AllocationRetained],
	client.ProblemCodePoolExhausted:        typed[*client.PoolExhausted],
	client.ProblemCodeExhaustedByCooldown:  typed[*client.ExhaustedByCooldown],
	client.ProblemCodeNoPoolForClass:       typed[*client.NoPoolForClass],
	client.ProblemCodeQuotaExceeded:        typed[*client.QuotaExceeded],
	client.ProblemCodeTooManyConsumers:     typed[*client.TooManyConsumers],
	client.ProblemCodePreconditionFailed:   typed[*client.PreconditionFailed],
	client.ProblemCodeNeverSatisfiable:     typed[*client.NeverSatisfiable],
	client.ProblemCodePrefixLengthRejected: typed[*client.PrefixLengthRejected],
}

// shown returns the problems in the examples of the contract, by name.
func shown(t *testing.T) map[string]client.Problem {
	t.Helper()
	doc, err := contract()
	require.NoError(t, err)
	out := map[string]client.Problem{}
	for name, example := range doc.Components.Responses["Problem"].Value.Content["application/problem+json"].Examples {
		text, err := json.Marshal(example.Value.Value)
		require.NoError(t, err)
		var p client.Problem
		require.NoError(t, json.Unmarshal(text, &p))
		out[name] = p
	}
	return out
}

func TestRefusalMatchesOnlyTheErrorTypeOfItsCode(t *testing.T) {
	t.Parallel()
	seen := map[client.ProblemCode]bool{}
	for name, p := range shown(t) {
		err := fmt.Errorf("wrapped: %w", &client.Error{Err: &p})
		seen[p.Code] = true
		for code, is := range types {
			found, ok := is(err)
			require.Equal(t, code == p.Code, ok, "%s as %s", name, code)
			if !ok {
				continue
			}
			held := reflect.ValueOf(found).Elem()
			require.Same(t, &p, held.Field(0).Interface(), name)
			for i := 1; i < held.NumField(); i++ { // each field of the type is equal to the field of the problem
				said := reflect.ValueOf(p).FieldByName(held.Type().Field(i).Name)
				if said.Kind() == reflect.Pointer && held.Field(i).Kind() != reflect.Pointer {
					if said.IsNil() {
						require.True(t, held.Field(i).IsZero(), name)
						continue
					}
					said = said.Elem()
				}
				require.Equal(t, said.Interface(), held.Field(i).Interface(), "%s: %s", name, held.Type().Field(i).Name)
			}
		}
	}
	require.Subset(t, slices.Collect(maps.Keys(seen)), slices.Collect(maps.Keys(types)))
}

// A table in the contract lists the figures of each code. Only members of the problem count as figures, not headers; detail and errors are no figures.
func TestEveryCodeWithFiguresHasAnErrorType(t *testing.T) {
	t.Parallel()
	doc, err := contract()
	require.NoError(t, err)
	members := doc.Components.Schemas["Problem"].Value.Properties
	word := regexp.MustCompile("`([A-Za-z]+)`")
	for line := range strings.SplitSeq(doc.Components.Schemas["ProblemCode"].Value.Description, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.Contains(cells[1], "`") {
			continue
		}
		figures := slices.ContainsFunc(word.FindAllStringSubmatch(cells[4], -1), func(m []string) bool { return m[1] != "detail" && m[1] != "errors" && members[m[1]] != nil })
		_, typed := types[client.ProblemCode(strings.Trim(strings.TrimSpace(cells[1]), "`"))]
		require.Equal(t, figures, typed, line)
	}
}
