{{- /* What a schema cannot say. */}}
{{- define "carve-controller.validate" -}}
{{- if not .Values.carve.url }}{{ fail "carve-controller: which Carve? Give carve.url, https://carve.network.svc for example" }}{{ end }}
{{- if not .Values.carve.project }}{{ fail "carve-controller: who claims? Give carve.project, the name of a project of Carve" }}{{ end }}
{{- if and (hasPrefix "http://" .Values.carve.url) (not .Values.carve.insecureHTTP) }}{{ fail "carve-controller: the key would cross the network in the clear: give an https:// URL, or set carve.insecureHTTP" }}{{ end }}
{{- end }}
