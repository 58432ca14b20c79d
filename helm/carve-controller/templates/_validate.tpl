{{- /* Rules that a schema cannot express. */}}
{{- define "carve-controller.validate" -}}
{{- if not .Values.carve.url }}{{ fail "carve-controller: carve.url is empty: set it to the URL of Carve, such as https://carve.network.svc" }}{{ end }}
{{- if not .Values.carve.project }}{{ fail "carve-controller: carve.project is empty: set it to the Carve project that claims" }}{{ end }}
{{- if and (hasPrefix "http://" .Values.carve.url) (not .Values.carve.insecureHTTP) }}{{ fail "carve-controller: the key would cross the network unencrypted: use an https:// URL, or set carve.insecureHTTP" }}{{ end }}
{{- end }}
