package acceptance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// attachment returns a configuration with a claim, a consumer and an attachment.
func attachment(project string) string {
	return `resource "carve_claim" "web" {
  project       = "` + project + `"
  name          = "web"
  pool          = "prod"
  prefix_length = 28
  max_consumers = 2
}
resource "carve_consumer" "vm" {
  project = "` + project + `"
  uid     = "vm-1"
}
` + attach(project, "it", "vm-1")
}

func attach(project, local, uid string) string {
	return `resource "carve_consumer_attachment" "` + local + `" {
  project    = "` + project + `"
  claim      = "web"
  uid        = "` + uid + `"
  depends_on = [carve_claim.web, carve_consumer.vm]
}
`
}

// TestAttachmentOfAnotherHolderIsNotTakenOver lets an agent attach its own consumer. Terraform must not take this attachment over, and must not
// detach the consumer.
func TestAttachmentOfAnotherHolderIsNotTakenOver(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	key, err := world.main.CreateAPIKey(t.Context(), project, client.APIKeyCreate{Metadata: client.CreateMetadata{Name: "agent"}, Spec: client.APIKeySpec{Role: "consumer"}})
	require.NoError(t, err)
	agent, err := client.New(world.main.url, client.WithAPIKey(key.Token))
	require.NoError(t, err)
	f := newFolder(t, world.main, "attach", attachment(project))
	f.apply()
	_, err = agent.AttachConsumer(t.Context(), project, "web", "theirs", client.IPConsumerSpec{})
	require.NoError(t, err)
	f.write("main.tf", head+attachment(project)+attach(project, "theirs", "theirs"))
	said := f.fails()
	require.Contains(t, said, "The resource already exists")
	require.Contains(t, said, `id = "`+project+`/web/default/theirs"`)
	f.agrees()

	// After the state is lost, this configuration finds its objects again.
	f.write("main.tf", head+attachment(project))
	f.remove("terraform.tfstate", "terraform.tfstate.backup")
	f.apply()
	f.empty()
	f.agrees()
	f.run("destroy", "-auto-approve", "-input=false", "-target=carve_consumer_attachment.it")
	require.True(t, f.attached("/v1/projects/"+project+"/claims/web/consumers/theirs?realm=default"))
	require.NoError(t, agent.DetachConsumer(t.Context(), project, "web", "theirs"))
	f.destroy()
}

// TestAttachmentIsNotKeptWithoutItsClaimOrConsumer destroys the claim or the consumer of an attachment. The plan must refuse that. If an attachment
// ends outside Terraform, the next apply creates it again.
func TestAttachmentIsNotKeptWithoutItsClaimOrConsumer(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	f := newFolder(t, world.main, "contain", attachment(project))
	f.apply()
	f.empty()
	kept := strings.Replace(attachment(project), "  depends_on = [carve_claim.web, carve_consumer.vm]\n", "", 1)
	for what, id := range map[string]string{"claim": project + "/web", "consumer": project + "/default/vm-1"} {
		begin := strings.Index(kept, `resource "carve_`+what+`" `)
		end := begin + strings.Index(kept[begin:], "\n}\n") + len("\n}\n")
		f.write("main.tf", head+kept[:begin]+kept[end:])
		said := f.fails()
		require.Contains(t, said, "Its container is destroyed")
		require.Contains(t, said, "destroys or replaces the "+what+" "+id)
		f.agrees()
	}

	f.server.remove(t, "/v1/projects/"+project+"/claims/web/consumers/vm-1")
	f.write("main.tf", head+attachment(project))
	require.Equal(t, []string{"create"}, f.changes()["carve_consumer_attachment.it"].Actions)
	f.apply()
	f.empty()
	f.agrees()
	f.destroy()
	status, _ := f.server.get(t, "/v1/projects/"+project+"/claims/web")
	require.Equal(t, http.StatusNotFound, status)
}
