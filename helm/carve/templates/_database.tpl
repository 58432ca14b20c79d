{{- /* A database is a dict with url, existingSecret and tlsSecret. carve.database returns the servers' database, with the dev profile's Secret filled in. */}}
{{- define "carve.database" -}}
{{- $db := deepCopy .Values.database }}
{{- if .Values.dev.postgres.enabled }}
{{- $db = dict "url" "" "existingSecret" (dict "name" (printf "%s-dev-postgres" (include "carve.fullname" .)) "key" "url") "tlsSecret" (dict "name" "") }}
{{- end }}
{{- toYaml $db }}
{{- end }}

{{- /* Another user's database, from a dict with db and own: values that own lacks come from db. */}}
{{- define "carve.otherDatabase" -}}
{{- $db := .db }}
{{- if or .own.url .own.existingSecret.name }}
{{- $_ := set $db "url" .own.url }}
{{- $_ := set $db "existingSecret" .own.existingSecret }}
{{- end }}
{{- if .own.tlsSecret.name }}
{{- $_ := set $db "tlsSecret" .own.tlsSecret }}
{{- end }}
{{- toYaml $db }}
{{- end }}

{{- define "carve.migrationDatabase" -}}
{{- include "carve.otherDatabase" (dict "db" (include "carve.database" . | fromYaml) "own" .Values.migrations.database) }}
{{- end }}

{{- /* The database of a CronJob, from a dict with root and own. The servers' user lacks the rights for CronJobs, so the default is the database of migrations. */}}
{{- define "carve.cronDatabase" -}}
{{- include "carve.otherDatabase" (dict "db" (include "carve.migrationDatabase" .root | fromYaml) "own" .own) }}
{{- end }}

{{- define "carve.databaseArg" -}}
{{- if .existingSecret.name -}}
--database-url-file=/etc/carve/database/url
{{- else -}}
--database-url={{ .url }}
{{- end -}}
{{- end }}

{{- /* The argument is a dict: db, and name, the prefix of the volumes' names. */}}
{{- define "carve.databaseMounts" -}}
{{- if .db.existingSecret.name }}
- { name: {{ .name }}, mountPath: /etc/carve/database, readOnly: true }
{{- end }}
{{- if .db.tlsSecret.name }}
- { name: {{ .name }}-tls, mountPath: /etc/carve/database-tls, readOnly: true }
{{- end }}
{{- end }}

{{- define "carve.databaseVolumes" -}}
{{- if .db.existingSecret.name }}
- name: {{ .name }}
  secret:
    secretName: {{ .db.existingSecret.name }}
    defaultMode: 0440
    items:
      - { key: {{ .db.existingSecret.key }}, path: url }
{{- end }}
{{- if .db.tlsSecret.name }}
- name: {{ .name }}-tls
  secret: { secretName: {{ .db.tlsSecret.name }}, defaultMode: 0440 }
{{- end }}
{{- end }}

{{- /* The container that runs migrations, in the Job and in a server's pod. */}}
{{- define "carve.migrateContainer" -}}
{{- $db := include "carve.migrationDatabase" . | fromYaml -}}
name: migrate
image: {{ include "carve.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
command: [/ipamctl]
args:
  - migrate
  - {{ include "carve.databaseArg" $db | quote }}
  - --regions={{ join "," (.Values.migrations.regions | default (list .Values.region)) }}
  {{- with .Values.migrations.survive }}
  - --survive={{ . }}
  {{- end }}
  {{- range .Values.migrations.extraArgs }}
  - {{ . | quote }}
  {{- end }}
{{ include "carve.containerSecurity" . }}
resources: {{- toYaml .Values.migrations.resources | nindent 2 }}
{{- with include "carve.databaseMounts" (dict "db" $db "name" "migrate-database") | trim }}
volumeMounts:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}
