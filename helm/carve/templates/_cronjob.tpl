{{- /* A CronJob that uses the database. The argument is a dict with root, name, schedule, db, args, and for a backup deadline, image, command and claim. */}}
{{- define "carve.cronJob" -}}
{{- with .root -}}
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {{ include "carve.fullname" . }}-{{ $.name }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "carve.labels" . | nindent 4 }}
    app.kubernetes.io/component: {{ $.name }}
spec:
  schedule: {{ $.schedule | quote }}
  concurrencyPolicy: Forbid
  successfulJobsHistoryLimit: 1
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      backoffLimit: 2
      activeDeadlineSeconds: {{ int64 ($.deadline | default .Values.migrations.activeDeadlineSeconds) }}
      template:
        metadata:
          labels:
            {{- include "carve.labels" . | nindent 12 }}
            app.kubernetes.io/component: {{ $.name }}
            {{- with .Values.jobs.podLabels }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          {{- with .Values.jobs.podAnnotations }}
          annotations: {{- toYaml . | nindent 12 }}
          {{- end }}
        spec:
          restartPolicy: Never
          serviceAccountName: {{ include "carve.serviceAccount" . }}
          {{- include "carve.podSecurity" . | nindent 10 }}
          {{- include "carve.placement" . | nindent 10 }}
          containers:
            - name: {{ $.name }}
              image: {{ $.image | default (include "carve.image" .) }}
              imagePullPolicy: {{ .Values.image.pullPolicy }}
              command: {{ $.command | default (list "/ipamctl") | toJson | replace "\"" "" }}
              args:
                {{- range $.args }}
                - {{ . }}
                {{- end }}
              {{- if $.claim }}
              env:
                - { name: POD_NAME, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
              {{- end }}
              {{- include "carve.containerSecurity" . | nindent 14 }}
              resources: {{- toYaml .Values.migrations.resources | nindent 16 }}
              {{- $mounts := include "carve.databaseMounts" (dict "db" $.db "name" "database") | trim }}
              {{- if or $mounts $.claim }}
              volumeMounts:
                {{- with $mounts }}
                {{- . | nindent 16 }}
                {{- end }}
                {{- if $.claim }}
                - { name: backups, mountPath: /backups }
                - { name: tmp, mountPath: /tmp }
                {{- end }}
              {{- end }}
          {{- $volumes := include "carve.databaseVolumes" (dict "db" $.db "name" "database") | trim }}
          {{- if or $volumes $.claim }}
          volumes:
            {{- with $volumes }}
            {{- . | nindent 12 }}
            {{- end }}
            {{- with $.claim }}
            - { name: backups, persistentVolumeClaim: { claimName: {{ . }} } }
            - { name: tmp, emptyDir: {} }
            {{- end }}
          {{- end }}
{{- end }}
{{- end }}
