# The only entry points of the project: `make` alone lists them. Every tool is pinned, Go's by a module file of its own in
# tools/, npm's by a lock file; what is missing is installed by the target that needs it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

DATA_DIR ?= data
# The race detector needs a C compiler; without one the tests run without it, and say so.
RACE ?= $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
TESTFLAGS ?=
BENCH ?= .
COMPAREFLAGS ?=
SCALEFLAGS ?=
OVERLOADFLAGS ?=
HOSTILEFLAGS ?=
CHAOSFLAGS ?=
CONFORMFLAGS ?=
SPECMATICFLAGS ?=
ROLLINGFLAGS ?=
OBSERVEFLAGS ?=
DOCSFLAGS ?=

# Stamped by hand: Go's own stamping stops the build where the checkout belongs to somebody else than its builder.
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
BUILD := -trimpath -buildvcs=false -ldflags '-X github.com/carve-ipam/carve/internal/app.version=$(VERSION) -X github.com/carve-ipam/carve/internal/app.commit=$(COMMIT)'

OAPI_CODEGEN := go tool -modfile=tools/oapi-codegen.mod oapi-codegen
OASDIFF := go tool -modfile=tools/oasdiff.mod oasdiff
GOLANGCI_LINT := go tool -modfile=tools/golangci-lint.mod golangci-lint
# From tools/sqlcheck, tools/rivals and tools/scale, modules of their own.
GOLANGCI_LINT_NESTED := go tool -modfile=../golangci-lint.mod golangci-lint run --config=../../.golangci.yml
REDOCLY := REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true tools/openapi/node_modules/.bin/redocly
NPM_CI := npm ci --ignore-scripts --no-audit --no-fund --loglevel=error

# Each generated file and the configuration it is generated with.
GENERATED := internal/api/gen/api.gen.go:internal/api/gen/server.cfg.yaml client/client.gen.go:client/client.cfg.yaml
CLIENT_TS := clients/typescript
CLIENT_TS_NPM := npm --prefix $(CLIENT_TS) run --silent
SWAGGER_UI := internal/api/docs/dist
SWAGGER_UI_FILES := LICENSE NOTICE favicon-32x32.png swagger-ui-bundle.js swagger-ui-bundle.js.LICENSE.txt swagger-ui.css

.PHONY: help
help:
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Use it
.PHONY: run demo audit
run: deps build ## Start the service with its embedded database (DATA_DIR=data, ARGS=...)
	@exec bin/server --auth=dev --data-dir='$(DATA_DIR)' $(ARGS)

demo: deps build ## Load an address plan, claim from it as three teams would, audit the result
	@./examples/demo.sh

audit: build ## Check every invariant of the data in SQL (DATA_DIR=data of a running server, or DATABASE_URL=...)
	@bin/ipamctl audit $(if $(DATABASE_URL),--database-url='$(DATABASE_URL)',--data-dir='$(DATA_DIR)')

##@ Build it
.PHONY: build deps clean
build: ## Build bin/server and bin/ipamctl
	go build $(BUILD) -o bin/ ./cmd/server ./cmd/ipamctl

deps: ## Install what is missing to run and test: PostgreSQL's programs
	@./tools/postgres/install.sh

# The commit's time, so that the image is the same whenever it is built.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)

.PHONY: mkimage image
mkimage:
	@cd tools/image && go build -trimpath -buildvcs=false -o ../../bin/mkimage .

image: mkimage ## Build the image for amd64 and arm64 without an engine, with SBOMs, and run what is in it (docs/evidence.md)
	@SOURCE_DATE_EPOCH='$(SOURCE_DATE_EPOCH)' bin/mkimage build -version='$(VERSION)' -commit='$(COMMIT)' -out=bin
	@cd tools/image && go test -count=1 ./proof -args -built='$(CURDIR)/bin'

clean: ## Remove what was built and installed here; the data in DATA_DIR stays
	rm -rf bin tools/*/node_modules $(CLIENT_TS)/node_modules $(CLIENT_TS)/dist cover.out

##@ Prove it
.PHONY: test test-go oracle conform specmatic test-sql test-crdb test-crdb-cluster chaos chaos-long chaos-twins chaos-build bench bench-scale bench-overload hostile compare k6 load docs-check docs-update chart-test chart-install jaeger-witness rolling observe
test: test-sql test-go ## Run every test, with the race detector where there is a C compiler

# What asks one thing after another: a search through a model, and a fuzzer with one client. The race detector finds nothing there that it does not
# find in internal/e2e, which has the same server in its process and clients at the same time, and made these some seven times as slow.
ONE_AFTER_ANOTHER := /internal/(model|conform)$$

test-go: deps
	@$(if $(RACE),,echo 'no C compiler: testing without the race detector')
	@status=0; try() { echo "go $$*" | cut -c1-80; go "$$@" || status=1; }; \
	all=$$(go list ./...); each=$$(echo "$$all" | grep -E '$(ONE_AFTER_ANOTHER)'); \
	try test $(RACE) -timeout=15m $(TESTFLAGS) $$(echo "$$all" | grep -vE '$(ONE_AFTER_ANOTHER)'); \
	try test -timeout=15m $(TESTFLAGS) $$each; \
	for module in rivals scale docscheck; do try -C tools/$$module test $(RACE) $(TESTFLAGS) ./...; done; \
	exit $$status

# The module reads files outside itself, which go's test cache does not watch: -count=1.
test-sql: ## Read every statement with CockroachDB's grammar and the rules of tools/sqlcheck
	cd tools/sqlcheck && go test -count=1 ./...

test-crdb: ## Run the database tests on CockroachDB (CRDB_URL=..., or a cockroach binary on PATH)
	@if [ -z '$(CRDB_URL)' ] && ! command -v cockroach >/dev/null; then \
		echo 'make test-crdb needs a CockroachDB: give CRDB_URL=postgresql://..., or put a cockroach binary on PATH.' >&2; \
		echo 'Nothing was tested. `make test` runs the same tests on PostgreSQL.' >&2; exit 2; fi
	@$(MAKE) deps # some tests are about PostgreSQL whatever the engine
	@CARVE_TEST_ENGINE=cockroach CRDB_URL='$(CRDB_URL)' go test -count=1 -timeout=30m $(TESTFLAGS) ./internal/...

# The first node is in the region that the tests have their rows in, and runs all. Servers that the tests start refuse the others, which are
# elsewhere: through those the tests of the store and of the use cases run.
test-crdb-cluster: ## Run the database tests on three CockroachDB nodes in three regions (COCKROACH_BIN=..., or a cockroach binary on PATH)
	@if ! command -v '$(or $(COCKROACH_BIN),cockroach)' >/dev/null; then \
		echo 'make test-crdb-cluster needs a CockroachDB: give COCKROACH_BIN=path/to/cockroach, or put a cockroach binary on PATH.' >&2; \
		echo 'Nothing was tested. `make test` runs the same tests on PostgreSQL.' >&2; exit 2; fi
	@$(MAKE) deps
	@go build -trimpath -buildvcs=false -o bin/crdbcluster ./tools/crdbcluster
	@bin/crdbcluster -cockroach='$(or $(COCKROACH_BIN),cockroach)' \
		-first='go test -count=1 -timeout=60m $(TESTFLAGS) ./internal/...' \
		-others='go test -count=1 -timeout=60m $(TESTFLAGS) ./internal/crdb/... ./internal/alloc/... ./internal/consistency/...'

chaos-build:
	@go build -trimpath -buildvcs=false -o bin/chaos ./tools/chaos
	@go run ./tools/skewclock bin/skewed
	@go build -trimpath -buildvcs=false -overlay bin/skewed/overlay.json -o bin/skewed/server ./cmd/server

chaos: deps build chaos-build ## Run three servers through faults and judge what they told: 20 seeds, about 2 minutes (docs/evidence.md; SEED=n, CHAOSFLAGS=...)
	@bin/chaos --seeds=20 $(if $(SEED),--seed=$(SEED)) $(CHAOSFLAGS)

chaos-long: deps build chaos-build ## The same with 500 seeds, about an hour
	@bin/chaos --seeds=500 $(CHAOSFLAGS)

# The servers are other programs: their protections can be switched off.
chaos-twins: deps build chaos-build ## Switch each protection off, and show that the same suite fails (docs/evidence.md)
	@go build -trimpath -buildvcs=false -tags carvetwin -o bin/twin/server ./cmd/server
	@go build -trimpath -buildvcs=false -tags carvetwin -overlay bin/skewed/overlay.json -o bin/twin/skewed ./cmd/server
	@bin/chaos --twins --server=bin/twin/server --skewed=bin/twin/skewed $(CHAOSFLAGS)

conform: deps ## Make every kind of request of openapi.yaml and judge the answers (docs/evidence.md; CONFORMFLAGS='-conform.seed=2 -conform.rounds=5')
	go test -count=1 -timeout=60m ./internal/conform -args -conform.report="$${TMPDIR:-/tmp}/conform-report.txt" $(CONFORMFLAGS)
	@tail -1 "$${TMPDIR:-/tmp}/conform-report.txt"

# The only program here that needs Java, 17 or newer.
specmatic: deps build tools/specmatic/node_modules/.package-lock.json ## Let Specmatic test a server against openapi.yaml (docs/evidence.md; SPECMATICFLAGS=-combinations=20)
	@command -v java >/dev/null || { echo 'make specmatic needs Java 17: apt-get install default-jre-headless' >&2; exit 2; }
	@go build -trimpath -buildvcs=false -o bin/specmatic ./tools/specmatic
	@bin/specmatic $(SPECMATICFLAGS)

# On a quiet machine: it measures times.
oracle: deps ## Measure whether the time of a refusal tells what other projects have
	go test -count=1 -timeout=30m -tags=oracle -v -run=TimeDoesNotTell $(TESTFLAGS) ./internal/crdb

bench: deps ## Run the benchmarks (BENCH=pattern)
	go test -run='^$$' -bench='$(BENCH)' -benchmem -timeout=30m ./...

bench-scale: deps ## Show what operations cost as the work grows, about 25 minutes, 15 GB of disk (SCALEFLAGS=...)
	@cd tools/scale && go build -trimpath -buildvcs=false -o ../../bin/scale .
	@bin/scale $(SCALEFLAGS)

bench-overload: deps build ## Ask the server for up to 4 times what it can do, and read its memory (OVERLOADFLAGS=...)
	@go build -trimpath -buildvcs=false -o bin/overload ./tools/overload
	@bin/overload $(OVERLOADFLAGS)

hostile: deps build ## Attack the server with slow and hostile clients, and measure what others notice: about 2 minutes (docs/security.md; HOSTILEFLAGS=...)
	@go build -trimpath -buildvcs=false -o bin/hostile ./tools/hostile
	@bin/hostile $(HOSTILEFLAGS)

compare: deps ## Compare Carve with its rivals and with the floors, about 10 minutes (docs/evidence.md; COMPAREFLAGS=...)
	@cd tools/rivals && go build -trimpath -buildvcs=false -o ../../bin/compare .
	@bin/compare $(COMPAREFLAGS)

k6: ## Build bin/k6, the load generator
	go build -trimpath -buildvcs=false -modfile=tools/k6.mod -o bin/k6 go.k6.io/k6

# Everything is a variable: LOAD_PROFILE=full, SCENARIOS='hot-pool soak', CARVE_SERVER=... (docs/evidence.md).
load: deps build k6 ## Run the load tests briefly against a fresh server, audit its data (docs/evidence.md)
	@LOAD_PROFILE='$(or $(LOAD_PROFILE),short)' ./loadtest/run.sh $(SCENARIOS)

docs-check: deps build ## Run every command of README.md and docs that says it can be run, compare, and follow all links (DOCSFLAGS=...)
	@cd tools/docscheck && go build -trimpath -buildvcs=false -o ../../bin/docscheck .
	@bin/docscheck $(DOCSFLAGS)

docs-update: ## Write what the commands of README.md and docs print into them, after a change of it
	@$(MAKE) docs-check DOCSFLAGS='-update $(DOCSFLAGS)'

observe: deps build ## Check alert rules and dashboards on a Prometheus that scrapes two loaded servers (docs/slo.md; OBSERVEFLAGS=...)
	@./tools/prometheus/install.sh
	@go build -trimpath -buildvcs=false -o bin/observe ./tools/observe
	@bin/observe $(OBSERVEFLAGS)

# Jaeger is built from source, once: about 2 minutes on a quiet machine. Not part of the tests.
bin/jaeger: tools/jaeger.mod tools/jaeger.sum
	go build -trimpath -buildvcs=false -modfile=tools/jaeger.mod -o $@ github.com/jaegertracing/jaeger/cmd/all-in-one

jaeger-witness: deps build bin/jaeger ## Make claims, and read their traces back from Jaeger (docs/telemetry.md)
	@go build -trimpath -buildvcs=false -o bin/jaegerwitness ./tools/jaegerwitness
	@bin/jaegerwitness

rolling: deps build k6 ## Replace three servers one after another under k6's 64 clients; nobody may notice (docs/evidence.md; ROLLINGFLAGS=...)
	@go build -trimpath -buildvcs=false -o bin/rolling ./tools/rolling
	@bin/rolling $(ROLLINGFLAGS)

# Helm, etcd and the API server are built from source, once, and again when their pinned versions change.
bin/helm: tools/chart/go.sum
	@echo 'building helm, once: about 2 minutes'
	@cd tools/chart && CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags='-s -w' -o ../../bin/helm helm.sh/helm/v4/cmd/helm

KUBERNETES = $(shell awk '$$1 == "k8s.io/kubernetes" { print $$2 }' tools/kubeapi/go.mod)
KUBEVERSION = -X k8s.io/component-base/version.gitVersion=$(KUBERNETES)
# Kept outside of the checkout, for the next one.
KUBEAPI_CACHE = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/carve/kubeapi-$(shell cat tools/kubeapi/go.mod tools/kubeapi/go.sum | sha256sum | cut -c1-16)
bin/kubeapi/etcd bin/kubeapi/kube-apiserver: tools/kubeapi/go.sum
	@mkdir -p bin/kubeapi '$(KUBEAPI_CACHE)'
	@if [ -x '$(KUBEAPI_CACHE)/$(@F)' ]; then install -m 755 '$(KUBEAPI_CACHE)/$(@F)' $@; else \
		echo 'building $(@F), once: about 8 minutes for both'; \
		cd tools/kubeapi && CGO_ENABLED=0 go build -p 2 -trimpath -buildvcs=false -ldflags='-s -w $(KUBEVERSION)' -o ../../$@ ./$(@F) && install -m 755 ../../$@ '$(KUBEAPI_CACHE)/$(@F)'; fi

# The flags of the builds, so that packages which helm and the tests both need are compiled once.
chart-test: bin/helm ## Lint the Helm chart, compare what it renders, check it against Kubernetes' schemas and the programs' flags
	@cd tools/chart && CGO_ENABLED=0 go test -trimpath -count=1 $(TESTFLAGS) .

chart-install: deps bin/helm bin/kubeapi/etcd bin/kubeapi/kube-apiserver ## Install, upgrade, roll back and uninstall the chart at a real API server (docs/kubernetes.md)
	@cd tools/chart && CGO_ENABLED=0 go test -trimpath -count=1 -v -timeout=15m $(TESTFLAGS) ./install

# What .ci/run calls: it does not wait for the API server to be built.
.PHONY: chart-install-warm
chart-install-warm:
	@if [ -x '$(KUBEAPI_CACHE)/kube-apiserver' ] && [ -x '$(KUBEAPI_CACHE)/etcd' ]; then $(MAKE) chart-install; \
		else echo 'not run: no API server was built on this machine yet (make chart-install builds one, in about 8 minutes)'; fi

.PHONY: client-ts client-ts-test client-python-test
client-ts: $(CLIENT_TS)/node_modules/.package-lock.json ## Check the types of the TypeScript client and build what `npm pack` packs
	@$(CLIENT_TS_NPM) build

client-ts-test: deps build client-ts ## Run the TypeScript client's tests and quick start against a server
	@cd $(CLIENT_TS) && test/with-server.sh ../../bin/server npm run --silent test

client-python-test: deps build tools/openapi-generator/node_modules/.package-lock.json ## Generate the Python client of docs/clients.md and run its quick start (needs Java and urllib3)
	@tools/openapi-generator/python.sh bin/server

##@ Keep it in order
.PHONY: generate verify lint lint-go lint-openapi lint-files fmt breaking swagger-ui
generate: $(CLIENT_TS)/node_modules/.package-lock.json ## Write the server's types and the clients from openapi.yaml
	@for each in $(GENERATED); do \
		echo "$${each%%:*}"; $(OAPI_CODEGEN) -config "$${each##*:}" openapi.yaml; done
	@echo clients/typescript/src/schema.d.ts; $(CLIENT_TS_NPM) generate >/dev/null

verify: tools/swagger-ui/node_modules/.package-lock.json $(CLIENT_TS)/node_modules/.package-lock.json ## Check that generated and vendored files are what their sources make
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; drift=0; \
	for each in $(GENERATED); do \
		sed '/^output:/d' "$${each##*:}" > "$$fresh/config"; \
		$(OAPI_CODEGEN) -config "$$fresh/config" -o "$$fresh/generated" openapi.yaml; \
		diff -u "$${each%%:*}" "$$fresh/generated" || { drift=1; echo "$${each%%:*} is not what openapi.yaml makes: make generate" >&2; }; done; \
	for file in $(SWAGGER_UI_FILES); do \
		cmp "$(SWAGGER_UI)/$$file" "tools/swagger-ui/node_modules/swagger-ui-dist/$$file" || { drift=1; echo 'make swagger-ui' >&2; }; done; \
	exit $$drift
	@$(CLIENT_TS_NPM) verify || { echo 'clients/typescript/src/schema.d.ts is not what openapi.yaml makes: make generate' >&2; exit 1; }
	go mod tidy -diff
	cd tools/sqlcheck && go mod tidy -diff
	cd tools/rivals && go mod tidy -diff
	cd tools/scale && go mod tidy -diff
	cd tools/chart && go mod tidy -diff
	cd tools/kubeapi && go mod tidy -diff
	cd tools/docscheck && go mod tidy -diff
	cd tools/image && go mod tidy -diff

lint: lint-files lint-openapi lint-go ## Lint the contract and the code

lint-files: # No built program, and nothing large, is committed.
	@go run ./tools/tracked

lint-openapi: tools/openapi/node_modules/.package-lock.json
	$(REDOCLY) lint --config=tools/openapi/redocly.yaml openapi.yaml

lint-go:
	@files=$$(gofmt -l $$(find . -name node_modules -prune -o -name '*.go' -print)); \
		[ -z "$$files" ] || { echo "not formatted (make fmt): $$files" >&2; exit 1; }
	go vet -tags=carvetwin ./internal/twin ./internal/crdb ./internal/alloc/...
	$(GOLANGCI_LINT) config verify
	$(GOLANGCI_LINT) run ./...
	cd tools/sqlcheck && $(GOLANGCI_LINT_NESTED) ./...
	cd tools/rivals && $(GOLANGCI_LINT_NESTED) ./...
	cd tools/scale && $(GOLANGCI_LINT_NESTED) ./...
	@# With the flags of chart-test, so that Kubernetes' libraries are compiled once; golangci-lint itself without them.
	cd tools/chart && lint=$$(go tool -modfile=../golangci-lint.mod -n golangci-lint) && export CGO_ENABLED=0 GOFLAGS=-trimpath && \
		"$$lint" run --config=../../.golangci.yml ./...
	cd tools/docscheck && $(GOLANGCI_LINT_NESTED) ./...
	cd tools/image && $(GOLANGCI_LINT_NESTED) ./...

fmt: ## Format the code
	$(GOLANGCI_LINT) fmt ./...

breaking: ## Compare the contract with that of the last release, or of BASE=<commit>
	@base='$(BASE)'; [ -n "$$base" ] || base=$$(git describe --tags --match='v*' --abbrev=0 2>/dev/null) || { echo 'breaking: nothing has been released'; exit 0; }; \
	mkdir -p bin && git show "$$base:openapi.yaml" >bin/released.yaml && \
	$(OASDIFF) breaking --fail-on ERR --severity-levels tools/openapi/oasdiff-levels.txt bin/released.yaml openapi.yaml

.PHONY: licences vulncheck test-supply
licences: mkimage ## Check the licences of all that is shipped, and write THIRD_PARTY_LICENSES
	@bin/mkimage licences

# They read files outside their module, which go's test cache does not watch: -count=1.
test-supply: ## Check licences, pins, the Dockerfile and the checks themselves (docs/evidence.md); `make image` has the rest
	cd tools/image && go test -count=1 $$(go list ./... | grep -v /proof$$)

# Error 3: something known is called. Error 4: the database cannot be had, nothing was checked.
vulncheck: ## Ask the Go vulnerability database about the code that is called (GOVULNDB=... for a mirror or a copy)
	@tools/image/vulncheck/vulncheck.sh

swagger-ui: tools/swagger-ui/node_modules/.package-lock.json ## Refresh the vendored Swagger UI to the version pinned in tools/swagger-ui
	cd tools/swagger-ui/node_modules/swagger-ui-dist && install -m 644 $(SWAGGER_UI_FILES) $(CURDIR)/$(SWAGGER_UI)/

# npm writes this file last, so it is there when the folder is complete.
tools/%/node_modules/.package-lock.json: tools/%/package-lock.json
	@cd tools/$* && $(NPM_CI)
	@touch $@

$(CLIENT_TS)/node_modules/.package-lock.json: $(CLIENT_TS)/package-lock.json
	@cd $(CLIENT_TS) && $(NPM_CI)
	@touch $@
