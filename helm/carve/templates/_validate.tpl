{{- /* What the schema cannot say: values that need or exclude each other. Each message names the values and what would work. */}}
{{- define "carve.validate" -}}
{{- $db := .Values.database }}
{{- $given := list }}
{{- if $db.url }}{{ $given = append $given "database.url" }}{{ end }}
{{- if $db.existingSecret.name }}{{ $given = append $given "database.existingSecret.name" }}{{ end }}
{{- if .Values.dev.postgres.enabled }}{{ $given = append $given "dev.postgres.enabled" }}{{ end }}
{{- if not $given }}
{{- fail "carve: which database? Give database.existingSecret.name (a Secret that holds the URL), or database.url (without a password), or, to try it out, use values-dev.yaml" }}
{{- end }}
{{- if gt (len $given) 1 }}
{{- fail (printf "carve: %s exclude each other: give one" (join " and " $given)) }}
{{- end }}
{{- include "carve.validateURL" (dict "name" "database" "url" $db.url) }}
{{- range $for := list "migrations" "retention" "backup" "audit" }}
{{- include "carve.validateURL" (dict "name" (printf "%s.database" $for) "url" (index $.Values $for).database.url) }}
{{- $own := (index $.Values $for).database }}
{{- if and $own.url $own.existingSecret.name }}
{{- fail (printf "carve: %s.database.url and %s.database.existingSecret.name exclude each other: give one" $for $for) }}
{{- end }}
{{- end }}
{{- if and .Values.dev.postgres.enabled (eq .Values.migrations.run "hook") }}
{{- fail "carve: dev.postgres.enabled is installed with the release, and a hook runs before it: set migrations.run to initContainer" }}
{{- end }}
{{- if and .Values.migrations.regions (not (has .Values.region .Values.migrations.regions)) }}
{{- fail (printf "carve: region %q is not one of migrations.regions (%s): list all regions of the database" .Values.region (join ", " .Values.migrations.regions)) }}
{{- end }}
{{- if and .Values.tls.secret .Values.tls.insecureHTTP }}
{{- fail "carve: tls.secret and tls.insecureHTTP contradict each other: give one" }}
{{- end }}
{{- if not (or .Values.tls.secret .Values.tls.insecureHTTP) }}
{{- fail "carve: give tls.secret (a Secret of type kubernetes.io/tls), or set tls.insecureHTTP when something in front of the pods speaks TLS" }}
{{- end }}
{{- if and .Values.tls.clientCASecret (not .Values.tls.secret) }}
{{- fail "carve: tls.clientCASecret needs tls.secret: certificates of clients are part of TLS" }}
{{- end }}
{{- $file := or .Values.oidc.configMap .Values.oidc.secret }}
{{- if and (has "oidc" .Values.auth) (not $file) }}
{{- fail "carve: auth has oidc: name the file of the issuers with oidc.configMap or oidc.secret" }}
{{- end }}
{{- if and $file (not (has "oidc" .Values.auth)) }}
{{- fail "carve: oidc.configMap and oidc.secret mean something only with oidc in auth" }}
{{- end }}
{{- if and .Values.oidc.clientSecrets (not (has "oidc" .Values.auth)) }}
{{- fail "carve: oidc.clientSecrets means something only with oidc in auth" }}
{{- end }}
{{- if and .Values.oidc.configMap .Values.oidc.secret }}
{{- fail "carve: oidc.configMap and oidc.secret exclude each other: give one" }}
{{- end }}
{{- if and .Values.webhooks.networks (not .Values.webhooks.secret) }}
{{- fail "carve: webhooks.networks needs webhooks.secret: without it nothing is sent" }}
{{- end }}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) }}
{{- fail (printf "carve: autoscaling.minReplicas %d is more than autoscaling.maxReplicas %d" (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
{{- fail "carve: ingress.enabled needs ingress.hosts: without a host name it would take everybody's requests" }}
{{- end }}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) }}
{{- fail "carve: gateway.enabled needs gateway.parentRefs: the Gateways that the route belongs to" }}
{{- end }}
{{- if and .Values.monitoring.serviceMonitor.enabled (not (include "carve.metricsOn" .)) }}
{{- fail (printf "carve: monitoring.serviceMonitor.enabled finds nothing with server.metrics %s: set it to admin" .Values.server.metrics) }}
{{- end }}
{{- if and .Values.firstKey.enabled (not (has "keys" .Values.auth)) }}
{{- fail "carve: firstKey.enabled needs keys in auth: without it no key is believed" }}
{{- end }}
{{- if and .Values.certificate.enabled (not (and .Values.tls.secret .Values.certificate.issuerRef.name)) }}
{{- fail "carve: certificate.enabled needs tls.secret (the Secret that cert-manager is to write) and certificate.issuerRef.name" }}
{{- end }}
{{- if and .Values.backup.enabled (not .Values.backup.persistentVolumeClaim) }}
{{- fail "carve: backup.enabled needs backup.persistentVolumeClaim: where backups, or on CockroachDB what they are of, are written" }}
{{- end }}
{{- if and .Values.service.loadBalancerClass (ne .Values.service.type "LoadBalancer") }}
{{- fail "carve: service.loadBalancerClass means something only with service.type LoadBalancer" }}
{{- end }}
{{- if and .Values.service.loadBalancerSourceRanges (ne .Values.service.type "LoadBalancer") }}
{{- fail "carve: service.loadBalancerSourceRanges means something only with service.type LoadBalancer" }}
{{- end }}
{{- end }}

{{- /* Everybody who may read the release can read a URL in the values. No message quotes it. */}}
{{- define "carve.validateURL" -}}
{{- if .url }}
{{- $url := printf "%s.url" .name }}
{{- if or (regexMatch "^[a-z]+://[^/?@]*:[^/?]*@" .url) (regexMatch "[?&](password|passfile)=" .url) }}
{{- fail (printf "carve: %s has a password, and everybody who may read the release could read it: put the URL into a Secret, and name it in %s.existingSecret.name" $url .name) }}
{{- end }}
{{- if not (regexMatch "^postgres(ql)?://[^:@/?]+@[^@/?]+/[^?]+([?].*)?$" .url) }}
{{- fail (printf "carve: %s is not a URL such as postgresql://carve@db.example.com:5432/carve?sslmode=verify-full, with the user, the host and the database" $url) }}
{{- end }}
{{- if not (regexMatch "[?&]sslmode=verify-full(&|$)" .url) }}
{{- fail (printf "carve: %s does not have the database's certificate verified: add sslmode=verify-full; to try the chart out, use values-dev.yaml" $url) }}
{{- end }}
{{- end }}
{{- end }}
