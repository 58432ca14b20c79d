package chart

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Wrong values are refused before anything reaches a cluster, with a message that names the value.
func TestInvalidChartValuesAreRefused(t *testing.T) {
	t.Parallel()
	const minimal = "--values=testdata/values/minimal.yaml"
	const everything = "--values=testdata/values/everything.yaml"
	const dev = "--values=" + source + "/values-dev.yaml"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		// by the schema
		"a value that does not exist":        {[]string{minimal, "--set=replicas=3"}, "additional properties 'replicas' not allowed"},
		"a misspelled value deeper down":     {[]string{minimal, "--set=tls.secretName=x"}, "at '/tls': additional properties 'secretName' not allowed"},
		"a flag that the server lacks":       {[]string{minimal, "--set=server.maxConnection=3"}, "at '/server': additional properties 'maxConnection' not allowed"},
		"no servers":                         {[]string{minimal, "--set=replicaCount=0"}, "at '/replicaCount': minimum: got 0, want 1"},
		"a text for a number":                {[]string{minimal, "--set-string=replicaCount=three"}, "at '/replicaCount': got string, want integer"},
		"a region that is no label":          {[]string{minimal, "--set=region=EU_West"}, "at '/region': 'EU_West' does not match pattern"},
		"dev authentication":                 {[]string{minimal, "--set=auth={dev}"}, "at '/auth/0': value must be one of 'keys', 'oidc'"},
		"no authentication":                  {[]string{minimal, "--set-json=auth=[]"}, "at '/auth': minItems: got 0, want 1"},
		"a way to migrate that is not there": {[]string{minimal, "--set=migrations.run=sometimes"}, "at '/migrations/run': value must be one of 'hook', 'initContainer', 'never'"},
		"hardly any connections":             {[]string{minimal, "--set=server.maxClients=3"}, "at '/server/maxClients'"},
		"root":                               {[]string{minimal, "--set=security.runAsUser=0"}, "at '/security/runAsUser': minimum: got 0, want 1"},
		"a digest that is none":              {[]string{minimal, "--set=image.digest=latest"}, "at '/image/digest': 'latest' does not match pattern"},
		"a duration without a unit":          {[]string{minimal, "--set-string=server.requestTimeout=10"}, "at '/server/requestTimeout': '10' does not match pattern"},
		"flags that are none":                {[]string{minimal, "--set=extraArgs={rm -rf}"}, "at '/extraArgs/0': 'rm -rf' does not match pattern"},
		"an environment without names":       {[]string{minimal, "--set-json=env=[{\"value\":\"x\"}]"}, "at '/env/0': missing property 'name'"},
		"TLS of long ago":                    {[]string{minimal, "--set-string=tls.minVersion=1.0"}, "at '/tls/minVersion': value must be one of '1.2', '1.3'"},
		"a label that the chart has itself":  {[]string{minimal, `--set=commonLabels.app\.kubernetes\.io/name=x`}, "at '/commonLabels/app.kubernetes.io~1name': false schema"},
		"a budget that lets nothing happen":  {[]string{minimal, "--set=podDisruptionBudget.maxUnavailable=0"}, "at '/podDisruptionBudget/maxUnavailable'"},
		// by the templates
		"a password in the values":        {[]string{minimal, "--set=database.existingSecret.name=,database.url=postgresql://carve:secret@db:26257/carve?sslmode=verify-full"}, "database.url has a password, which every user with read access to the release could read"},
		"a password as a parameter":       {[]string{minimal, "--set=database.existingSecret.name=,database.url=postgresql://carve@db:26257/carve?sslmode=verify-full&password=x"}, "set database.existingSecret.name"},
		"a database that is not verified": {[]string{minimal, "--set=database.existingSecret.name=,database.url=postgresql://carve@db:26257/carve?sslmode=require"}, "add sslmode=verify-full"},
		"a database without TLS":          {[]string{minimal, "--set=database.existingSecret.name=,database.url=postgresql://carve@db:26257/carve"}, "add sslmode=verify-full"},
		"a URL without a user":            {[]string{minimal, "--set=database.existingSecret.name=,database.url=db:26257"}, "database.url is not a URL such as postgresql://"},
		"the same for migrations":         {[]string{minimal, "--set=migrations.database.url=postgresql://carve:x@db:26257/carve?sslmode=verify-full"}, "migrations.database.url has a password"},
		"a certificate for nobody":        {[]string{minimal, "--set=certificate.enabled=true"}, "certificate.enabled requires tls.secret"},
		"backups to nowhere":              {[]string{minimal, "--set=backup.enabled=true"}, "backup.enabled requires backup.persistentVolumeClaim"},
		"a key that nobody believes":      {[]string{everything, "--set=auth={oidc}"}, "firstKey.enabled requires keys in auth"},
		"a class of no load balancer":     {[]string{minimal, "--set=service.loadBalancerClass=x"}, "service.loadBalancerClass has an effect only"},
		"sources of no load balancer":     {[]string{minimal, "--set=service.loadBalancerSourceRanges={10.0.0.0/8}"}, "service.loadBalancerSourceRanges has an effect only"},
		"no database":                     {[]string{"--set=tls.insecureHTTP=true"}, "no database is set: set database.existingSecret.name"},
		"two databases":                   {[]string{minimal, "--set=database.url=postgresql://carve@db:26257/carve?sslmode=verify-full"}, "database.url and database.existingSecret.name exclude each other"},
		"a database besides dev's":        {[]string{dev, "--set=database.existingSecret.name=x"}, "database.existingSecret.name and dev.postgres.enabled exclude each other"},
		"dev's database after its hook":   {[]string{dev, "--set=migrations.run=hook"}, "set migrations.run to initContainer"},
		"two databases for migrations":    {[]string{everything, "--set=migrations.database.url=postgresql://carve@db:26257/carve?sslmode=verify-full"}, "migrations.database.url and migrations.database.existingSecret.name exclude each other"},
		"two databases for retention":     {[]string{everything, "--set=retention.database.url=postgresql://carve@db:26257/carve?sslmode=verify-full"}, "retention.database.url and retention.database.existingSecret.name exclude each other"},
		"a region that is not listed":     {[]string{everything, "--set=region=ap-south1"}, `region "ap-south1" is not one of migrations.regions (eu-west1, us-east1)`},
		"neither TLS nor a word for it":   {[]string{minimal, "--set=tls.secret="}, "set tls.secret (a Secret of type kubernetes.io/tls), or set tls.insecureHTTP"},
		"TLS and plain HTTP":              {[]string{minimal, "--set=tls.insecureHTTP=true"}, "tls.secret and tls.insecureHTTP exclude each other"},
		"client certificates in clear":    {[]string{minimal, "--set=tls.secret=,tls.insecureHTTP=true,tls.clientCASecret=x"}, "tls.clientCASecret requires tls.secret"},
		"tokens of nobody":                {[]string{minimal, "--set=auth={oidc}"}, "set oidc.configMap or oidc.secret for the file of issuers"},
		"issuers without tokens":          {[]string{minimal, "--set=oidc.secret=x"}, "have an effect only with oidc in auth"},
		"client secrets without tokens":   {[]string{minimal, "--set=oidc.clientSecrets=x"}, "oidc.clientSecrets has an effect only with oidc in auth"},
		"networks without webhooks":       {[]string{minimal, "--set=webhooks.networks={10.0.0.0/8}"}, "webhooks.networks requires webhooks.secret"},
		"issuers twice":                   {[]string{everything, "--set=oidc.secret=x"}, "oidc.configMap and oidc.secret exclude each other"},
		"more at least than at most":      {[]string{everything, "--set=autoscaling.minReplicas=10"}, "autoscaling.minReplicas 10 is more than autoscaling.maxReplicas 9"},
		"an Ingress for everybody":        {[]string{minimal, "--set=ingress.enabled=true"}, "ingress.enabled requires ingress.hosts"},
		"a route without a Gateway":       {[]string{minimal, "--set=gateway.enabled=true"}, "gateway.enabled requires gateway.parentRefs"},
		"metrics that nobody may scrape":  {[]string{everything, "--set=server.metrics=loopback"}, "monitoring.serviceMonitor.enabled finds no metrics with server.metrics loopback"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := helm(t, append([]string{"template", "ipam", source, "--kube-version=1.36.3"}, c.args...)...)
			require.Error(t, err, out)
			assert.Contains(t, err.Error(), c.want)
		})
	}
}

func TestOldKubernetesVersionIsRefused(t *testing.T) {
	t.Parallel()
	_, err := helm(t, "template", "ipam", source, "--values=testdata/values/minimal.yaml", "--kube-version=1.30.0")
	assert.ErrorContains(t, err, "chart requires kubeVersion")
}
