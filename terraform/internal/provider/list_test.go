package provider

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// notListed has the list operations that no data source uses, with the reasons.
var notListed = map[string]string{
	"listScopePools":        "carve_pools lists these pools",
	"listAuditEvents":       "the audit trail is for people",
	"listChanges":           "a stream of changes is no state",
	"listWebhookDeliveries": "they are for operators",
	"listAlerts":            "alerts start and end by themselves",
	"listRegions":           "a region is a setting of the server",
}

// parameter is an operation's parameter, or a reference to one.
type parameter struct{ Ref, Name, In string }

func TestListsHaveTheFiltersOfTheContract(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../openapi.yaml")
	require.NoError(t, err)
	var contract struct {
		Paths map[string]struct {
			Get struct {
				OperationID string `yaml:"operationId"`
				Parameters  []struct {
					Ref  string `yaml:"$ref"`
					Name string
				}
			}
		}
		Components struct{ Parameters map[string]parameter }
	}
	require.NoError(t, yaml.Unmarshal(text, &contract))
	anyName := regexp.MustCompile(`\{\w+\}|%7B\w+%7D`)
	filters := map[string][]string{}
	for _, k := range append(kinds(), allocation()) {
		all := []string{}
		for _, f := range k.filters {
			all = append(all, camel(f.name))
		}
		v := values{}
		for _, key := range names(k.keys()) {
			v[key] = "{" + key + "}"
		}
		for _, without := range []string{"pool", "space"} { // a grant has only one of these two parameters
			one := values{}
			for name, value := range v {
				if k.choice == nil || name != without {
					one[name] = value
				}
			}
			path, _, _ := strings.Cut(k.listPath(one), "?")
			filters[anyName.ReplaceAllString(path, "*")] = all
		}
	}
	covered := 0
	for path, operations := range contract.Paths {
		operation := operations.Get.OperationID
		if !strings.HasPrefix(operation, "list") || notListed[operation] != "" {
			continue
		}
		var want []string
		for _, p := range operations.Get.Parameters {
			name := p.Name
			if p.Ref != "" {
				name = contract.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")].Name
			}
			if name != "limit" && name != "cursor" && name != "consistency" {
				want = append(want, name)
			}
		}
		has, listed := filters[anyName.ReplaceAllString(path, "*")]
		assert.True(t, listed, "no data source lists what %s lists", operation)
		assert.ElementsMatch(t, want, has, operation)
		covered++
	}
	assert.Len(t, filters, covered, "each list of a data source is in the contract")
}
