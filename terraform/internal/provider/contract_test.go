package provider

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// leftOut has the fields of the contract that the resources do not have, with the reasons.
var leftOut = map[string]string{
	"IPClassSpec/provisioner":  "it has only one value",
	"IPClaimSpec/poolSelector": "deprecated in favour of classes",
	"IPClaimSpec/consumers":    "not returned, so the provider could not detect drift",
}

// contractSchema has the parts of a schema in the contract that this test needs.
type contractSchema struct {
	Ref        string                    `yaml:"$ref"`
	AllOf      []contractSchema          `yaml:"allOf"`
	Properties map[string]contractSchema `yaml:"properties"`
	Enum       []string                  `yaml:"enum"`
}

func TestResourcesHaveEveryFieldOfTheContract(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../openapi.yaml")
	require.NoError(t, err)
	var contract struct {
		Components struct {
			Schemas map[string]contractSchema `yaml:"schemas"`
		} `yaml:"components"`
	}
	require.NoError(t, yaml.Unmarshal(text, &contract))
	schemas := contract.Components.Schemas
	resolve := func(s contractSchema) contractSchema {
		for s.Ref != "" || len(s.AllOf) > 0 {
			if s.Ref == "" {
				s = s.AllOf[0]
			}
			if s.Ref != "" {
				s = schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
			}
		}
		return s
	}
	excused := map[string]bool{}
	for name, k := range map[string]kind{
		"ProjectSpec": project(), "SpaceSpec": space(), "IPPoolSpec": pool(), "IPClassSpec": class(), "IPClaimSpec": claim(), "QuotaSpec": quota(),
		"MemberSpec": member(), "ApiKeySpec": apiKey(), "IPConsumerSpec": consumer(),
		"AlertRuleSpec": alertRule(), "WebhookSpec": webhook(),
	} {
		require.NotEmpty(t, schemas[name].Properties, name)
		for property, s := range schemas[name].Properties {
			if leftOut[name+"/"+property] != "" {
				excused[name+"/"+property] = true
				continue
			}
			found := false
			for _, f := range k.all() {
				rest, under := strings.CutPrefix(f.pointer(), "/spec/"+property)
				if f.local() || !under || rest != "" && rest[0] != '/' {
					continue
				}
				found = true
				if enum := resolve(s).Enum; rest == "" && len(enum) > 0 {
					assert.ElementsMatch(t, enum, f.oneOf, "%s of %s", f.name, k.name)
				}
			}
			assert.True(t, found, "%s of %s is no attribute", property, name)
		}
	}
	for name := range leftOut {
		assert.True(t, excused[name], name)
	}
}
