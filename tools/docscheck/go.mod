module github.com/carve-ipam/carve/tools/docscheck

go 1.26.0

require (
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2
	github.com/stretchr/testify v1.12.1
	github.com/yuin/goldmark v1.8.5
	go.yaml.in/yaml/v3 v3.0.5
)
