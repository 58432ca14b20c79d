{{- define "carve-controller.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- /* Names have at most 50 characters, so that they fit a label together with a suffix. */}}
{{- define "carve-controller.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "carve-controller.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "carve-controller.name" .) | trunc 50 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "carve-controller.selector" -}}
app.kubernetes.io/name: {{ include "carve-controller.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "carve-controller.labels" -}}
{{ include "carve-controller.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: carve
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "carve-controller.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "carve-controller.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "carve-controller.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end }}

{{- /* Numbers in a YAML file are floats; a large one must not become 1e+06. */}}
{{- define "carve-controller.flagValue" -}}
{{- if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end }}

{{- /* The rules of a role, each with its reason: rules without a word, and rules whose word is enabled. */}}
{{- define "carve-controller.rules" -}}
{{- $words := splitList "," .values.publish }}
{{- if .values.publishNodeSlices }}{{ $words = append $words "node-slices" }}{{ end }}
{{- if .values.clusterApi }}{{ $words = append $words "cluster-api" }}{{ end }}
{{- range .rights }}
{{- if or (not .with) (has .with $words) }}
# {{ .why }}
- {{ omit . "why" "with" | toYaml | nindent 2 | trim }}
{{- end }}
{{- end }}
{{- end }}
