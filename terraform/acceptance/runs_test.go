package acceptance_test

import (
	"bytes"
	"encoding/pem"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInterruptedApplyKeepsCreatedClaimsInItsState interrupts an apply. The provider has no owner here. If an object is in no state, such a
// configuration cannot find it again.
func TestInterruptedApplyKeepsCreatedClaimsInItsState(t *testing.T) {
	t.Parallel()
	const n = 80
	project := prepared(t, world.main)
	f := newFolder(t, world.main, "", many(project, n, "c"))
	cmd := f.command(t.Context(), "apply", "-auto-approve", "-parallelism=2") // slow enough for an interrupt
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	for len(claims(t, world.main, project)) < n/5 { // each check sends a request
		require.NoError(t, t.Context().Err())
	}
	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)) // like Ctrl-C
	require.Error(t, cmd.Wait())
	require.Contains(t, said.String(), "Interrupt received")

	made := claims(t, world.main, project)
	require.Less(t, len(made), n, "it was interrupted in the middle: %s", said.String())
	known := map[string]bool{}
	for _, thing := range f.state() {
		known[thing.id] = true
	}
	for name := range made {
		require.True(t, known[project+"/"+name], "%s is in the state: %s", name, said.String())
	}
	f.apply()
	f.empty()
	require.Len(t, claims(t, world.main, project), n)
	f.destroy()
}

func TestValueKnownAfterApplyCanBeReferenced(t *testing.T) {
	t.Parallel()
	_, project := team(t)
	f := newFolder(t, world.main, "", project+web+`resource "carve_pool" "child" {
  project       = carve_project.team.name
  name          = "child"
  parent        = carve_pool.prod.id
  prefix_length = 20
  labels        = { beside = replace(carve_claim.web.cidr, "/", "-") }
}
resource "carve_claim" "gateway" {
  project       = carve_project.team.name
  name          = "gateway"
  pool          = carve_pool.child.id
  address       = cidrhost(carve_pool.child.cidr, 1)
  prefix_length = length(carve_claim.web.uid) == 36 ? null : 32
}
resource "carve_class" "std" {
  project            = carve_project.team.name
  name               = "std"
  ip_family          = "IPv4"
  pool_per           = ["project"]
  pool_prefix_length = length(carve_claim.web.uid) == 36 ? 24 : null
}
resource "carve_grant" "one" {
  project  = carve_project.team.name
  pool     = length(carve_claim.web.uid) == 36 ? "prod" : null
  space    = length(carve_claim.web.uid) == 36 ? null : "default"
  consumer = "*"
}
resource "terraform_data" "router" {
  input = { network = carve_claim.web.cidr, gateway = carve_claim.gateway.address, block = carve_claim.gateway.cidr }
}
`)
	require.Contains(t, f.apply(), "8 added")
	f.empty()
	child, _ := f.value("carve_pool.child", "cidr").(string)
	gateway, _ := f.value("carve_claim.gateway", "address").(string)
	require.Equal(t, strings.TrimSuffix(child, ".0/20"), strings.TrimSuffix(gateway, ".1"))
	require.Equal(t, gateway+"/32", f.value("carve_claim.gateway", "cidr"))
	require.EqualValues(t, 32, f.value("carve_claim.gateway", "prefix_length"))
	f.destroy()
}

func TestMovedResourceIsNotCreatedAgain(t *testing.T) {
	t.Parallel()
	_, project := team(t)
	f := newFolder(t, world.main, "", project+web)
	f.apply()
	moved := strings.NewReplacer(`"carve_claim" "web"`, `"carve_claim" "site"`).Replace(web)
	moved = strings.Replace(moved, "  name          = \"web\"", "  for_each      = toset([\"web\"])\n  name          = each.key", 1)
	f.write("main.tf", head+project+moved+"moved {\n  from = carve_claim.web\n  to   = carve_claim.site[\"web\"]\n}\n")
	said := f.apply()
	require.Contains(t, said, "has moved to")
	require.Contains(t, said, "0 added, 0 changed, 0 destroyed")
	f.empty()
	f.destroy()
}

func TestCertificateIsVerifiedWithTheConfiguredCA(t *testing.T) {
	t.Parallel()
	to, err := url.Parse(world.main.url)
	require.NoError(t, err)
	secure := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(to))
	defer secure.Close()
	name, project := team(t)
	f := newFolder(t, world.main, "", project)
	f.env = append(f.env, "CARVE_SERVER="+secure.URL)
	said := f.fails()
	require.Contains(t, said, "certificate signed by unknown authority")
	require.Contains(t, said, "ca_file")

	f.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	f.env = append(f.env, "CARVE_CA_FILE="+filepath.Join(f.dir, "ca.pem"))
	f.apply()
	f.write("provider.tf", "provider \"carve\" {\n  ca_file = \"main.tf\"\n}\n")
	require.Contains(t, f.fails(), "main.tf has no certificates")
	f.write("provider.tf", "provider \"carve\" {\n  server = \""+secure.URL+"\"\n  ca_file = \"ca.pem\"\n  project = \""+name+"\"\n}\n")
	f.empty()
	f.destroy()
}
