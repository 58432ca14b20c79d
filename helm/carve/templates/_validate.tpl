{{- /* Rules that the schema cannot express: values that require or exclude each other. Each message names the values and a remedy. */}}
{{- define "carve.validate" -}}
{{- $db := .Values.database }}
{{- $given := list }}
{{- if $db.url }}{{ $given = append $given "database.url" }}{{ end }}
{{- if $db.existingSecret.name }}{{ $given = append $given "database.existingSecret.name" }}{{ end }}
{{- if .Values.dev.postgres.enabled }}{{ $given = append $given "dev.postgres.enabled" }}{{ end }}
{{- if not $given }}
{{- fail "carve: no database is set: set database.existingSecret.name (a Secret that contains the URL) or database.url (without a password); to try out the chart, use values-dev.yaml" }}
{{- end }}
{{- if gt (len $given) 1 }}
{{- fail (printf "carve: %s exclude each other: set one" (join " and " $given)) }}
{{- end }}
{{- include "carve.validateURL" (dict "name" "database" "url" $db.url) }}
{{- range $for := list "migrations" "retention" "backup" "audit" }}
{{- include "carve.validateURL" (dict "name" (printf "%s.database" $for) "url" (index $.Values $for).database.url) }}
{{- $own := (index $.Values $for).database }}
{{- if and $own.url $own.existingSecret.name }}
{{- fail (printf "carve: %s.database.url and %s.database.existingSecret.name exclude each other: set one" $for $for) }}
{{- end }}
{{- end }}
{{- if and .Values.dev.postgres.enabled (eq .Values.migrations.run "hook") }}
{{- fail "carve: dev.postgres.enabled is installed with the release, and a hook runs before it: set migrations.run to initContainer" }}
{{- end }}
{{- if and .Values.migrations.regions (not (has .Values.region .Values.migrations.regions)) }}
{{- fail (printf "carve: region %q is not one of migrations.regions (%s): list all regions of the database" .Values.region (join ", " .Values.migrations.regions)) }}
{{- end }}
{{- if and .Values.tls.secret .Values.tls.insecureHTTP }}
{{- fail "carve: tls.secret and tls.insecureHTTP exclude each other: set one" }}
{{- end }}
{{- if not (or .Values.tls.secret .Values.tls.insecureHTTP) }}
{{- fail "carve: set tls.secret (a Secret of type kubernetes.io/tls), or set tls.insecureHTTP if a proxy in front of the pods terminates TLS" }}
{{- end }}
{{- if and .Values.tls.clientCASecret (not .Values.tls.secret) }}
{{- fail "carve: tls.clientCASecret requires tls.secret: client certificates need TLS" }}
{{- end }}
{{- $file := or .Values.oidc.configMap .Values.oidc.secret }}
{{- if and (has "oidc" .Values.auth) (not $file) }}
{{- fail "carve: auth has oidc: set oidc.configMap or oidc.secret for the file of issuers" }}
{{- end }}
{{- if and $file (not (has "oidc" .Values.auth)) }}
{{- fail "carve: oidc.configMap and oidc.secret have an effect only with oidc in auth" }}
{{- end }}
{{- if and .Values.oidc.clientSecrets (not (has "oidc" .Values.auth)) }}
{{- fail "carve: oidc.clientSecrets has an effect only with oidc in auth" }}
{{- end }}
{{- if and .Values.oidc.configMap .Values.oidc.secret }}
{{- fail "carve: oidc.configMap and oidc.secret exclude each other: set one" }}
{{- end }}
{{- if and .Values.webhooks.networks (not .Values.webhooks.secret) }}
{{- fail "carve: webhooks.networks requires webhooks.secret: without it the server sends no webhooks" }}
{{- end }}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) }}
{{- fail (printf "carve: autoscaling.minReplicas %d is more than autoscaling.maxReplicas %d" (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
{{- fail "carve: ingress.enabled requires ingress.hosts: without a host name the Ingress would match the requests for all hosts" }}
{{- end }}
{{- if and .Values.gateway.enabled (not .Values.gateway.parentRefs) }}
{{- fail "carve: gateway.enabled requires gateway.parentRefs: the route's Gateways" }}
{{- end }}
{{- if and .Values.monitoring.serviceMonitor.enabled (not (include "carve.metricsOn" .)) }}
{{- fail (printf "carve: monitoring.serviceMonitor.enabled finds no metrics with server.metrics %s: set it to admin" .Values.server.metrics) }}
{{- end }}
{{- if and .Values.firstKey.enabled (not (has "keys" .Values.auth)) }}
{{- fail "carve: firstKey.enabled requires keys in auth: without it the server accepts no key" }}
{{- end }}
{{- if and .Values.certificate.enabled (not (and .Values.tls.secret .Values.certificate.issuerRef.name)) }}
{{- fail "carve: certificate.enabled requires tls.secret (the Secret that cert-manager writes) and certificate.issuerRef.name" }}
{{- end }}
{{- if and .Values.backup.enabled (not .Values.backup.persistentVolumeClaim) }}
{{- fail "carve: backup.enabled requires backup.persistentVolumeClaim: the volume for backups, or with CockroachDB for their descriptions" }}
{{- end }}
{{- if and .Values.service.loadBalancerClass (ne .Values.service.type "LoadBalancer") }}
{{- fail "carve: service.loadBalancerClass has an effect only with service.type LoadBalancer" }}
{{- end }}
{{- if and .Values.service.loadBalancerSourceRanges (ne .Values.service.type "LoadBalancer") }}
{{- fail "carve: service.loadBalancerSourceRanges has an effect only with service.type LoadBalancer" }}
{{- end }}
{{- end }}

{{- /* Every user with read access to the release can read a URL in the values. No message quotes it. */}}
{{- define "carve.validateURL" -}}
{{- if .url }}
{{- $url := printf "%s.url" .name }}
{{- if or (regexMatch "^[a-z]+://[^/?@]*:[^/?]*@" .url) (regexMatch "[?&](password|passfile)=" .url) }}
{{- fail (printf "carve: %s has a password, which every user with read access to the release could read: put the URL into a Secret, and set %s.existingSecret.name" $url .name) }}
{{- end }}
{{- if not (regexMatch "^postgres(ql)?://[^:@/?]+@[^@/?]+/[^?]+([?].*)?$" .url) }}
{{- fail (printf "carve: %s is not a URL such as postgresql://carve@db.example.com:5432/carve?sslmode=verify-full, with the user, the host and the database" $url) }}
{{- end }}
{{- if not (regexMatch "[?&]sslmode=verify-full(&|$)" .url) }}
{{- fail (printf "carve: %s does not verify the database's certificate: add sslmode=verify-full; to try out the chart, use values-dev.yaml" $url) }}
{{- end }}
{{- end }}
{{- end }}
