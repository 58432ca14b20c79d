{{- define "carve.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- /* Names have at most 50 characters, so that they fit a label together with a suffix. */}}
{{- define "carve.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "carve.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "carve.name" .) | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "carve.selector" -}}
app.kubernetes.io/name: {{ include "carve.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "carve.labels" -}}
{{ include "carve.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: carve
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
carve.dev/region: {{ .Values.region }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "carve.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "carve.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "carve.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end }}

{{- define "carve.scheme" -}}
{{ ternary "https" "http" (ne .Values.tls.secret "") }}
{{- end }}

{{- define "carve.servicePort" -}}
{{ .Values.service.port | default (ternary 443 80 (ne .Values.tls.secret "")) }}
{{- end }}

{{- define "carve.metricsOn" -}}
{{- if has .Values.server.metrics (list "admin" "open") }}yes{{ end -}}
{{- end }}

{{- /* A stopping pod serves for the drain delay. Then running requests get 20 s, and pending writes 3 s. The server exits at the latest 30 s after the delay. */}}
{{- define "carve.grace" -}}
{{ add .Values.drainDelaySeconds 35 }}
{{- end }}

{{- /* Numbers in a YAML file are floats; a large one must not become 1e+06. */}}
{{- define "carve.flagValue" -}}
{{- if kindIs "slice" . }}{{ join "," . }}{{ else if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end }}
