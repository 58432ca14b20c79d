{{- /* A server reads its files from Secrets and ConfigMaps that exist already. */}}
{{- define "carve.serverMounts" -}}
{{- include "carve.databaseMounts" (dict "db" (include "carve.database" . | fromYaml) "name" "database") }}
{{- if .Values.tls.secret }}
- { name: tls, mountPath: /etc/carve/tls, readOnly: true }
{{- end }}
{{- if .Values.tls.clientCASecret }}
- { name: client-ca, mountPath: /etc/carve/client-ca, readOnly: true }
{{- end }}
{{- if has "oidc" .Values.auth }}
- { name: oidc, mountPath: /etc/carve/oidc, readOnly: true }
{{- end }}
{{- if .Values.oidc.clientSecrets }}
- { name: oidc-client, mountPath: /etc/carve/oidc-client, readOnly: true }
{{- end }}
{{- if .Values.webhooks.secret }}
- { name: webhooks, mountPath: /etc/carve/webhooks, readOnly: true }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "carve.serverVolumes" -}}
{{- include "carve.databaseVolumes" (dict "db" (include "carve.database" . | fromYaml) "name" "database") }}
{{- if eq .Values.migrations.run "initContainer" }}
{{- include "carve.databaseVolumes" (dict "db" (include "carve.migrationDatabase" . | fromYaml) "name" "migrate-database") }}
{{- end }}
{{- if .Values.tls.secret }}
- name: tls
  secret: { secretName: {{ .Values.tls.secret }}, defaultMode: 0440 }
{{- end }}
{{- if .Values.tls.clientCASecret }}
- name: client-ca
  secret:
    secretName: {{ .Values.tls.clientCASecret }}
    defaultMode: 0440
    items: [{ key: ca.crt, path: ca.crt }]
{{- end }}
{{- if .Values.oidc.configMap }}
- name: oidc
  configMap:
    name: {{ .Values.oidc.configMap }}
    items: [{ key: {{ .Values.oidc.key }}, path: oidc.yaml }]
{{- end }}
{{- if .Values.oidc.secret }}
- name: oidc
  secret:
    secretName: {{ .Values.oidc.secret }}
    defaultMode: 0440
    items: [{ key: {{ .Values.oidc.key }}, path: oidc.yaml }]
{{- end }}
{{- if .Values.oidc.clientSecrets }}
- name: oidc-client
  secret: { secretName: {{ .Values.oidc.clientSecrets }}, defaultMode: 0440 }
{{- end }}
{{- if .Values.webhooks.secret }}
- name: webhooks
  secret:
    secretName: {{ .Values.webhooks.secret }}
    defaultMode: 0440
    items: [{ key: {{ .Values.webhooks.key }}, path: webhook-key }]
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
