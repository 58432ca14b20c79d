# The project's only entry points: `make` alone lists them. Every tool is pinned: Go tools by their own module file in tools/, npm tools by a lock
# file. A target installs the tools that it lacks. FLAGS go to the program of a target, TESTFLAGS to go test.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

DATA_DIR ?= data
# All targets compile with the same settings, so that they share the compiled packages. Programs are static, and name no directory of this machine.
# Go's own stamp would stop the build where the checkout belongs to another user than the builder.
export CGO_ENABLED ?= 0
export GOFLAGS := $(sort $(shell go env GOFLAGS) -trimpath -buildvcs=false)
# The race detector needs a C compiler; without one the tests run without it and print a note.
RACE ?= $(shell command -v cc gcc)
# One version number for all releases: the file VERSION (tools/release lists its other occurrences). The commit distinguishes builds.
VERSION := $(shell cat VERSION)
COMMIT := $(shell git describe --always --abbrev=40 --dirty --exclude='*' 2>/dev/null)
STAMP := -ldflags '-X github.com/carve-ipam/carve/internal/app.version=$(VERSION) -X github.com/carve-ipam/carve/internal/app.commit=$(COMMIT)'

TS := clients/typescript

# All targets except files. Builds are in the list too, because go build checks their inputs faster than make would.
.PHONY: $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*/\1/p' Makefile) bin/measure bin/faults bin/witness bin/docscheck bin/mkimage bin/prometheus
help:
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  %-18s %s\n", $$1, $$2 }' Makefile

##@ Use it
run: deps build ## Start the service with its embedded database (DATA_DIR=data, ARGS=...)
	@exec bin/server --auth=dev --data-dir='$(DATA_DIR)' $(ARGS)
demo: deps build ## Load an address plan, claim from it as three teams would, audit the result (KEEP=1 keeps the server)
	@KEEP='$(KEEP)' ./examples/demo.sh
audit: build ## Check every invariant of the data in SQL (DATA_DIR=data of a running server, or DATABASE_URL=...)
	@bin/ipamctl audit $(if $(DATABASE_URL),--database-url='$(DATABASE_URL)',--data-dir='$(DATA_DIR)')

##@ Build it
build: ## Build bin/server and bin/ipamctl, with the console where there is npm
	@tools/console.sh
	go build $(STAMP) -o bin/ ./cmd/server ./cmd/ipamctl
console: ## Build the web console, which bin/server is then built with (needs npm)
	@tools/console.sh required
deps: ## Install what is missing to run and test: PostgreSQL's programs
	@./tools/postgres/install.sh
# The commit's time, so that the image does not depend on the time of the build.
image: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
image: console bin/mkimage ## Build the images of server and controller for amd64 and arm64 without an engine, with SBOMs, and run them (docs/evidence.md)
	@bin/mkimage build -version='$(VERSION)' -commit='$(COMMIT)' -out=bin
	@cd tools/image && for image in carve carve-controller; do go test -count=1 -timeout=60m ./proof -args -built='$(CURDIR)/bin' -image=$$image; done
release: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
release: console client-ts ## Build all that is installed, for all platforms, into dist/ (docs/install.md): some 15 minutes
	@go -C tools/release run . build -repo='$(CURDIR)' -out='$(CURDIR)/dist' -commit='$(COMMIT)'
version: ## Have every file say the version that VERSION says
	@go -C tools/release run . versions -write
clean: ## Remove what was built and installed here; the data in DATA_DIR stays
	rm -rf bin dist tools/*/node_modules $(TS)/node_modules $(TS)/dist console/node_modules internal/console/dist/* cover.out

##@ Test it
test: test-sql test-go ## Run every test, the concurrent ones with the race detector where there is a C compiler
# Many product tests wait for a fault that they caused: six at a time keep two cores busy.
test-go: export RACE := $(RACE)
test-go: deps
	@status=0; try() { echo "$$*" | cut -c1-80; "$$@" || status=1; }; \
	try tools/test.sh . -timeout=30m -parallel=6 $(TESTFLAGS); \
	try tools/test.sh lab -timeout=30m $(TESTFLAGS); \
	try go -C tools/docscheck test $(TESTFLAGS) ./...; \
	exit $$status
# These modules read files outside of themselves, which go's test cache does not see: -count=1.
test-sql: ## Read every statement with CockroachDB's grammar and the rules of tools/sqlcheck
	go -C tools/sqlcheck test -count=1 -timeout=60m ./...
test-supply: console ## Check licences, pins, the Dockerfile and the checks themselves (docs/evidence.md); `make image` has the rest
	cd tools/image && go test -count=1 -timeout=60m $$(go list ./... | grep -v /proof$$)
release-test: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)
release-test: deps console ## Check versions, build this machine's archive and packages twice, and install them in a throw-away root
	@go -C tools/release test -count=1 -timeout=60m ./...
	@tools/release/test.sh '$(COMMIT)'
test-crdb: deps ## Run the database tests on CockroachDB (CRDB_URL=..., or a cockroach binary on PATH)
	@TESTFLAGS='$(TESTFLAGS)' CRDB_URL='$(CRDB_URL)' tools/test-crdb.sh
test-crdb-cluster: deps bin/faults ## Run them on three nodes in three regions (COCKROACH_BIN=..., or a cockroach binary on PATH)
	@TESTFLAGS='$(TESTFLAGS)' COCKROACH_BIN='$(COCKROACH_BIN)' tools/test-crdb.sh cluster
chart-test: ## Lint the Helm charts, compare what they render, check it against Kubernetes' schemas and the programs' flags
	@tools/chart/build.sh helm && cd tools/chart && go test -count=1 -timeout=60m $(TESTFLAGS) .
chart-install: deps ## Install, upgrade, roll back and uninstall the chart at a real API server (docs/kubernetes.md)
	@tools/chart/build.sh helm && tools/chart/build.sh kubeapi && cd tools/chart && \
		go test -count=1 -v -timeout=60m $(TESTFLAGS) ./install
controller-test: deps build ## Test the Kubernetes controller against a real API server, etcd and server of Carve
	@tools/chart/build.sh kubeapi && go -C controller test -count=1 -timeout=60m $(TESTFLAGS) ./...
# TERRAFORM=/path/to/tofu tests OpenTofu.
terraform-test: deps build ## Test the Terraform provider with the real terraform against servers (TERRAFORM=... for OpenTofu)
	@tools/terraform-docs.sh check
	TERRAFORM='$(TERRAFORM)' go -C terraform test -count=1 -parallel=4 -timeout=60m $(TESTFLAGS) ./...
terraform-docs: ## Write terraform/docs of the provider's schema and examples
	@tools/terraform-docs.sh
client-ts: $(TS)/node_modules/.package-lock.json ## Check the types of the TypeScript client and build what `npm pack` packs
	@npm --prefix $(TS) run --silent build
client-ts-test: deps build client-ts ## Run the TypeScript client's tests and quick start against a server
	@cd $(TS) && test/with-server.sh ../../bin/server npm run --silent test
console-test: deps console build ## Test the web console in Chromium against a server (POOLS=100000 CLAIMS=1000000 for a large project)
	@cd console && ../$(TS)/test/with-server.sh ../bin/server npm run --silent test
client-python-test: deps build tools/openapi-generator/node_modules/.package-lock.json ## Run docs/clients.md in Python (needs Java, urllib3)
	@tools/openapi-generator/python.sh bin/server
generators: deps build tools/generators/node_modules/.package-lock.json ## Have six generators make clients of openapi.yaml, compile them and call a server
	@tools/generators/try.sh bin/server
docs-check: deps build bin/docscheck ## Run every command of README.md and docs that says it can be run, compare, follow all links (FLAGS=-update)
	@bin/docscheck $(FLAGS)

##@ Question it: lab/README.md says what each of these answers, and what it takes (FLAGS=...)
chaos: bin/skewed/server ## Let servers, networks, clocks and databases fail, and judge what was answered (20 seeds)
rolling: bin/k6 ## Replace three servers one after another under load; nobody may notice
compare: ## Say which goals of speed are met, beside rivals and floors (docs/performance.md)
scale: ## Show what operations cost as the data grows
overload: ## Ask the server for up to 4 times what it can do, and read its memory
hostile: ## Attack the server with slow and hostile clients, and measure what others notice
observe: bin/prometheus ## Check alert rules and dashboards on a Prometheus that scrapes two loaded servers
jaeger: bin/jaeger ## Make claims, and read their traces back from Jaeger
chaos rolling: deps build bin/faults
	@bin/faults $@ $(FLAGS)
compare scale overload hostile: deps build bin/measure
	@bin/measure $@ $(FLAGS)
observe jaeger: deps build bin/witness
	@bin/witness $@ $(FLAGS)
# A server with an adjustable clock; and, for chaos-twins, one whose protections can also be disabled.
bin/skewed/server: build bin/faults
	@bin/faults clock bin/skewed && go build -overlay bin/skewed/overlay.json -o $@ ./cmd/server
chaos-twins: deps build bin/faults ## Take each protection away, and show that chaos finds it
	@bin/faults twins bin/twin && go build -overlay bin/twin/overlay.json -o bin/twin/server ./cmd/server
	@bin/faults chaos --twins --server=bin/twin/server --skewed=bin/twin/server $(FLAGS)
conform: deps ## Make every kind of request of openapi.yaml and judge the answers
	@mkdir -p bin && go -C lab test -count=1 -timeout=60m ./conform -args -conform.report=$(CURDIR)/bin/conform-report.txt $(FLAGS)
	@tail -1 bin/conform-report.txt
oracle: deps ## Measure, on a quiet machine, whether the time of a refusal tells what other projects have
	go test -count=1 -timeout=30m -tags=oracle -v -run=ResponseTimeDoesNotReveal $(TESTFLAGS) ./internal/crdb
bench: deps ## Run the benchmarks (FLAGS=-bench=pattern)
	@for module in . lab; do go -C $$module test -run='^$$' -bench=. -benchmem -timeout=30m $(FLAGS) ./...; done
load: deps build bin/k6 ## Run k6's load tests briefly against a fresh server, and audit its data (LOAD_PROFILE=full, SCENARIOS='hot-pool soak')
	@LOAD_PROFILE='$(or $(LOAD_PROFILE),short)' ./loadtest/run.sh $(SCENARIOS)
bin/measure bin/faults bin/witness:
	@cd lab && go build -o ../bin/ ./cmd/$(@F)
bin/docscheck bin/mkimage:
	@cd tools/$(patsubst mk%,%,$(@F)) && go build -o ../../$@ .
bin/prometheus:
	@./tools/prometheus/install.sh
bin/k6 bin/jaeger: bin/%: tools/%.mod tools/%.sum # from source, once: Jaeger takes about 2 minutes
	go build -modfile=tools/$*.mod -o $@ $(if $(filter k6,$*),go.k6.io/k6,github.com/jaegertracing/jaeger/cmd/all-in-one)

##@ Keep it in order
generate: $(TS)/node_modules/.package-lock.json ## Write the server's types and the clients from openapi.yaml
	@tools/generate.sh types
verify: tools/swagger-ui/node_modules/.package-lock.json $(TS)/node_modules/.package-lock.json ## Check what is generated, vendored and tidy
	@tools/generate.sh check
swagger-ui: tools/swagger-ui/node_modules/.package-lock.json ## Refresh the vendored Swagger UI to the version pinned in tools/swagger-ui
	@tools/generate.sh swagger-ui
lint: lint-files lint-openapi lint-go ## Lint the contract and the code
lint-files: # Refuses built programs and large files in commits.
	@go run ./tools/tracked
lint-openapi: tools/openapi/node_modules/.package-lock.json
	@REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(<D)/.bin/redocly lint --config=tools/openapi/redocly.yaml openapi.yaml
	@$(<D)/.bin/spectral lint --ruleset=tools/openapi/spectral.yaml --fail-severity=hint openapi.yaml
lint-go: # of the module at the root (MODULE=.), of those below MODULE, or of all
	@tools/lint.sh $(MODULE)
fmt: ## Format the code
	go tool -modfile=tools/golangci-lint.mod golangci-lint fmt ./...
breaking: ## Compare the contract with that of the last release, or of BASE=<commit>
	@tools/openapi/breaking.sh $(BASE)
licences: console bin/mkimage ## Check the licences of all that is shipped, and write THIRD_PARTY_LICENSES
	@bin/mkimage licences
# Error 3: the code calls a known vulnerability. Error 4: the database is unavailable, nothing was checked.
vulncheck: ## Ask the Go vulnerability database about the code that is called (GOVULNDB=... for a mirror or a copy)
	@tools/image/vulncheck/vulncheck.sh && for module in controller terraform; do (cd $$module && ../tools/image/vulncheck/vulncheck.sh); done
# npm writes this file last, so it exists when the folder is complete.
%/node_modules/.package-lock.json: %/package-lock.json
	@cd $* && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
