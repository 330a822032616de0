{{- define "shuffled.labels" -}}
app.kubernetes.io/name: shuffled
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "shuffled.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}
