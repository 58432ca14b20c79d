package acceptance_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

const web = `resource "carve_pool" "prod" {
  project = carve_project.team.name
  name    = "prod"
  cidr    = "10.20.0.0/16"
}
resource "carve_claim" "web" {
  project       = carve_project.team.name
  name          = "web"
  pool          = carve_pool.prod.id
  prefix_length = 28
  labels        = { env = "prod" }
}
`

func TestClaimDeletedOutsideTerraformIsCreatedAgain(t *testing.T) {
	t.Parallel()
	name, project := team(t)
	f := newFolder(t, world.main, "", project+web)
	f.apply()
	require.NoError(t, world.main.Release(t.Context(), name, "web"))
	said, changes := f.plan()
	require.True(t, changes)
	require.Contains(t, said, "1 to add, 0 to change, 0 to destroy")
	f.apply()
	f.empty()

	require.NoError(t, world.main.Release(t.Context(), name, "web"))
	f.run("destroy", "-auto-approve", "-refresh=false")
	require.Empty(t, f.state(), "what is gone already is no failure")
}

func TestForeignClaimOfTheNameIsLeftAlone(t *testing.T) {
	t.Parallel()
	name, project := team(t)
	f := newFolder(t, world.main, "owner", project+web)
	f.apply()
	require.NoError(t, world.main.Release(t.Context(), name, "web"))
	theirs, err := world.main.PutClaim(t.Context(), name, "web", client.IPClaimPut{Spec: client.IPClaimSpec{PoolRef: &client.Ref{Name: "prod"}, PrefixLength: 28}})
	require.NoError(t, err)

	f.write("main.tf", head+project+strings.Replace(web, `env = "prod"`, `env = "test"`, 1))
	require.Contains(t, f.fails("-refresh=false"), "Another claim has the name")
	f.write("main.tf", head+project+web)
	said, changes := f.plan()
	require.True(t, changes)
	require.Contains(t, flat(said), "Another claim has the name")
	said = f.fails()
	require.Contains(t, said, "The resource already exists")
	require.Contains(t, said, `id = "`+name+`/web"`)
	f.run("destroy", "-auto-approve", "-refresh=false", "-target=carve_claim.web")
	still, err := world.main.GetClaim(t.Context(), name, "web")
	require.NoError(t, err)
	require.Equal(t, theirs.Metadata, still.Metadata)

	f.write("imports.tf", "import {\n  to = carve_claim.web\n  id = \""+name+"/web\"\n}\n")
	require.Contains(t, f.apply(), "1 imported")
	f.remove("imports.tf")
	f.empty()
	f.destroy()
}

func TestProtectedClaimIsNeitherDestroyedNorReplaced(t *testing.T) {
	t.Parallel()
	_, project := team(t)
	open := strings.Replace(project+web, `  prefix_length = 28`, "  prefix_length = 28\n  deletion_protection = false", 1)
	closed := strings.Replace(open, "= false", "= true", 1)
	f := newFolder(t, world.main, "", closed)
	f.apply()
	f.empty()

	said, code := f.try("destroy", "-auto-approve")
	require.Equal(t, 1, code)
	require.Contains(t, flat(said), "It is protected from deletion")
	require.Len(t, f.state(), 3, "nothing was destroyed")
	f.write("main.tf", head+strings.Replace(closed, "prefix_length = 28", "prefix_length = 27", 1))
	require.Contains(t, f.fails(), "so it is neither destroyed nor replaced")

	f.write("main.tf", head+open)
	require.Contains(t, f.apply(), "1 changed")
	f.destroy()
}

func TestChangeOfAnImmutableAttributeReplacesTheClaim(t *testing.T) {
	t.Parallel()
	_, project := team(t)
	f := newFolder(t, world.main, "", project+web)
	f.apply()
	uid := f.value("carve_claim.web", "uid")
	// If a configuration names the same block by its CIDR, the claim does not change.
	cidr, _ := f.value("carve_claim.web", "cidr").(string)
	f.write("main.tf", head+project+strings.Replace(web, "prefix_length = 28", `cidr = "`+cidr+`"`, 1))
	f.empty()
	f.write("main.tf", head+project+strings.Replace(web, "prefix_length = 28", "prefix_length = 27", 1))
	said, _ := f.plan()
	require.Contains(t, said, "forces replacement")
	f.apply()
	f.empty()
	require.NotEqual(t, uid, f.value("carve_claim.web", "uid"))
	f.destroy()
}

func TestStateOfAnOlderProviderVersionIsUpgraded(t *testing.T) {
	t.Parallel()
	_, project := team(t)
	f := newFolder(t, world.main, "", project+web)
	f.apply()
	path := filepath.Join(f.dir, "terraform.tfstate")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var state map[string]any
	require.NoError(t, json.Unmarshal(text, &state))
	for _, r := range state["resources"].([]any) {
		for _, i := range r.(map[string]any)["instances"].([]any) {
			instance := i.(map[string]any)
			instance["schema_version"] = 0
			attributes := instance["attributes"].(map[string]any)
			attributes["of_an_older_version"] = "x"
			attributes["labels"] = "of another type"
			delete(attributes, "uid")
			delete(attributes, "name")
		}
	}
	text, err = json.Marshal(state)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	f.empty()
	f.apply()
	f.destroy()
}

func TestRefusalShowsTheAttributeAndTheRemedies(t *testing.T) {
	t.Parallel()
	_, project := team(t)
	f := newFolder(t, world.main, "", project+strings.Replace(web, "= 28", "= 12", 1))
	said := f.fails()
	require.Contains(t, said, "The block can never fit")
	require.Contains(t, said, "prefix_length = 12", "the line of the attribute is shown")
	require.Contains(t, said, "Remedies: * Ask for a /16")
	require.Contains(t, said, "Code never_satisfiable")
	f.destroy()
}

// secret matches an API key.
var secret = regexp.MustCompile(`carve_[0-9a-f]{32}_[a-z2-7]{52}`)

func TestSecretsAreNotInLogs(t *testing.T) {
	t.Parallel()
	name, project := team(t)
	f := newFolder(t, world.main, "", project)
	f.apply() // the next run creates an ephemeral key at its start
	f.write("main.tf", head+project+`resource "carve_api_key" "it" {
  project = carve_project.team.name
  name    = "pipeline"
  role    = "viewer"
}
resource "carve_webhook" "it" {
  project = carve_project.team.name
  name    = "inventory"
  url     = "https://inventory.example.com/carve"
  paused  = true
}
ephemeral "carve_api_key" "run" {
  project   = carve_project.team.name
  role      = "viewer"
  valid_for = "10m"
}
provider "carve" {
  alias   = "run"
  api_key = ephemeral.carve_api_key.run.token
}
data "carve_project" "seen" {
  provider = carve.run
  name     = carve_project.team.name
}
output "seen" { value = data.carve_project.seen.phase }
`)
	log := filepath.Join(f.dir, "log")
	f.env = append(f.env, "TF_LOG=TRACE", "TF_LOG_PATH="+log)
	require.Contains(t, f.apply(), `seen = "Active"`)
	token, _ := f.value("carve_api_key.it", "token").(string)
	require.Len(t, token, len("carve_")+32+1+52)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(text), "path=/v1/projects/"+name+"/api-keys", "what was asked is logged")
	require.NotContains(t, string(text), token[39:])
	require.NotContains(t, string(text), f.server.key[39:])
	require.Empty(t, secret.FindAllString(string(text), -1), "that of the run neither")
	signs, _ := f.value("carve_webhook.it", "secret").(string)
	require.Regexp(t, `^whsec_[A-Za-z0-9+/]{40,}=*$`, signs)
	require.NotContains(t, string(text), strings.TrimPrefix(signs, "whsec_"))
	require.Equal(t, 2, strings.Count(f.run("show"), "(sensitive value)"))
	state, err := os.ReadFile(filepath.Join(f.dir, "terraform.tfstate"))
	require.NoError(t, err)
	require.Len(t, secret.FindAllString(string(state), -1), 1, "the key of the run is in no state")

	keys := 0
	for key, err := range world.main.APIKeys(t.Context(), name) {
		require.NoError(t, err)
		require.Equal(t, client.Name("pipeline"), key.Metadata.Name, "the key of the run was deleted")
		keys++
	}
	require.Equal(t, 1, keys)

	c, err := client.New(world.main.url, client.WithAPIKey(token))
	require.NoError(t, err)
	_, err = c.GetProject(t.Context(), name)
	require.NoError(t, err, "the key is one")
	f.destroy()
}

func TestDataSourcesReadEveryKind(t *testing.T) {
	t.Parallel()
	name, project := team(t)
	f := newFolder(t, world.main, "", project+web+`resource "carve_class" "std" {
  project   = carve_project.team.name
  name      = "std"
  ip_family = "IPv4"
}
resource "carve_quota" "all" {
  project = carve_project.team.name
  name    = "all"
  limits  = { claims = 3 }
}
resource "carve_grant" "all" {
  project  = carve_project.team.name
  pool     = carve_pool.prod.name
  consumer = "*"
}
resource "carve_member" "alice" {
  project = carve_project.team.name
  subject = "corp:alice"
  role    = "viewer"
}
resource "carve_api_key" "key" {
  project = carve_project.team.name
  name    = "key"
  role    = "viewer"
}
resource "carve_consumer" "vm" {
  project = carve_project.team.name
  uid     = "vm"
}
resource "carve_alert_rule" "full" {
  project = carve_project.team.name
  name    = "full"
  about   = "Pools"
  percent = 80
}
resource "carve_webhook" "all" {
  project = carve_project.team.name
  name    = "all"
  url     = "https://inventory.example.com/carve"
  paused  = true
}
`)
	f.apply()
	f.write("data.tf", `data "carve_project" "it" { name = carve_project.team.name }
data "carve_space" "it" {
  project = "`+name+`"
  name    = "default"
}
data "carve_pool" "it" {
  project = "`+name+`"
  name    = "prod"
}
data "carve_class" "it" {
  project = "`+name+`"
  name    = "std"
}
data "carve_claim" "it" {
  project = "`+name+`"
  name    = "web"
}
data "carve_quota" "it" {
  project = "`+name+`"
  name    = "all"
}
data "carve_grant" "it" {
  project  = "`+name+`"
  pool     = "prod"
  consumer = "*"
}
data "carve_member" "it" {
  project = "`+name+`"
  subject = "corp:alice"
}
data "carve_api_key" "it" {
  project = "`+name+`"
  name    = "key"
}
data "carve_consumer" "it" {
  project = "`+name+`"
  uid     = "vm"
}
data "carve_alert_rule" "it" {
  project = "`+name+`"
  name    = "full"
}
data "carve_webhook" "it" {
  project = "`+name+`"
  name    = "all"
}
data "carve_claim_explanation" "yes" {
  project       = "`+name+`"
  pool          = "prod"
  prefix_length = 24
}
data "carve_claim_explanation" "no" {
  project       = "`+name+`"
  pool          = "prod"
  prefix_length = 8
}
output "all" {
  value = join(" ", [data.carve_project.it.phase, data.carve_space.it.id, data.carve_pool.it.capacity.available, data.carve_class.it.ip_family,
    data.carve_claim.it.cidr, data.carve_quota.it.available.claims, data.carve_grant.it.id, data.carve_member.it.role, data.carve_api_key.it.role,
    data.carve_consumer.it.phase, data.carve_alert_rule.it.percent, data.carve_webhook.it.state, data.carve_claim_explanation.yes.cidr, data.carve_claim_explanation.no.code,
    data.carve_claim_explanation.no.remedies[0].value])
}
`)
	require.Contains(t, f.apply(), `all = "Active `+name+`/default 65520 IPv4 10.20.0.0/28 2 `+name+
		`/pools/prod/* viewer viewer Live 80 Paused 10.20.1.0/24 never_satisfiable 16"`)
	f.empty()
	f.destroy()
}

func TestProviderMayBeConfiguredByAnUnknownValue(t *testing.T) {
	t.Parallel()
	name, project := team(t)
	f := newFolder(t, world.main, "", project+`provider "carve" {
  alias   = "later"
  project = split("/", terraform_data.later.output)[0]
}
resource "terraform_data" "later" {
  input = carve_project.team.uid == "" ? "" : "`+name+`/x"
}
resource "carve_space" "vrf" {
  provider = carve.later
  name     = "vrf"
}
`)
	f.apply()
	f.empty()
	require.Equal(t, name+"/vrf", f.value("carve_space.vrf", "id"))
	f.destroy()
}
