# demo, test, build and generate need nothing but Go; check fetches its tools and
# needs a C compiler for the race detector; bench installs peers from PyPI;
# clients installs a Node and the clients from npm, and one from PyPI; page
# installs Chromium from Debian, and axe-core from npm; release wants npm.

export CGO_ENABLED = 0
GO          ?= go
GOFLAGS_BIN  = -trimpath -ldflags="-s -w"
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT      = mvdan.cc/gofumpt@v0.12.0
GORELEASER   = github.com/goreleaser/goreleaser/v2@v2.15.1
CYCLONEDX    = github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
FUZZTIME    ?= 5s
# The package of PyPI whose client calls the tools of convgen serve.
MCP          = 1.28.1
# A module of its own, with what only bench, recall and clients need.
TOOLS        = cmd/convtools/internal
PLATFORMS    = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: help
help: ## Show what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/convtools and bin/convgen
	@$(GO) build $(GOFLAGS_BIN) -o bin/ ./cmd/convgen ./cmd/convtools

.PHONY: man
man: build ## Write the manual pages into bin/man/man1
	@bin/convtools man bin/man/man1

.PHONY: demo
demo: build ## Ask the bundled sample: a week of a small project
	@bin/convgen generate -check
	@CONVTOOLS="$(CURDIR)/bin/convtools" sh testdata/demo.sh

# Tests that write thousands of small files take less time where these are in memory, with 2 GB of it or more, and where
# programs may be run. A GOTMPDIR would have the files instead; with -exec, no result would be cached.
SHM = $(shell grep -q '/dev/shm .*noexec' /proc/mounts 2>/dev/null || \
  df -k /dev/shm 2>/dev/null | awk '$$1 == "tmpfs" && $$4 > 2000000 { print "TMPDIR=/dev/shm GOTMPDIR=" }')

.PHONY: picture
picture: build ## Draw the picture of the README again, from what convtools answers
	@CONVTOOLS="$(CURDIR)/bin/convtools" sh testdata/picture.sh >bin/picture.svg && mv bin/picture.svg testdata

# Tests are many short processes, which spend less time when they collect less garbage.
.PHONY: test
test: ## Run all tests
	$(SHM) GOGC=400 $(GO) test ./...

.PHONY: generate
generate: ## Turn specs into code, schemas, configurations and docs
	$(GO) generate ./...

.PHONY: check
check: ## Format, vet, staticcheck, generated files current, import arrows, race tests, cross-compiles
	@echo "== format";      test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	@test -z "$$($(GO) run $(GOFUMPT) -l $$(git ls-files '*.go' ':!generated'))" || { $(GO) run $(GOFUMPT) -l $$(git ls-files '*.go' ':!generated'); exit 1; }
	@echo "== modules";     for m in . $(TOOLS); do $(GO) -C $$m mod tidy -diff && $(GO) -C $$m mod verify || exit 1; done
	@echo "== vet";         $(GO) vet ./... && $(GO) -C $(TOOLS) vet ./...
	@echo "== staticcheck"; for m in . $(TOOLS); do (cd $$m && $(GO) run $(STATICCHECK) ./...) || exit 1; done
	@echo "== generate";    $(GO) run ./cmd/convgen generate -check && $(GO) run ./cmd/convgen fmt -check
	@echo "== arrows";      $(GO) test -count=1 -run '^TestImportArrows$$' ./cmd/convtools
	@echo "== race";        for m in . $(TOOLS); do CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO) -C $$m test -race -short -timeout=20m ./... || exit 1; done
	@echo "== platforms";   for p in $(PLATFORMS); do echo "$$p"; export GOOS=$${p%/*} GOARCH=$${p#*/}; \
	  $(GO) build -o /dev/null ./cmd/convtools && $(GO) vet ./... && $(GO) -C $(TOOLS) vet ./... || exit 1; done

.PHONY: bench
bench: ## Measure against peers and print ratios
	@$(GO) -C $(TOOLS) run ./bench

.PHONY: recall
recall: ## Ask a fixed set of questions and print what the answers cost
	@$(GO) -C $(TOOLS) run ./recall $(RECALL)

.PHONY: clients
clients: ## Run real MCP clients and agents against convtools; wants npm, python3 and a network
	@$(GO) -C $(TOOLS) run ./clients $(CLIENTS)
	@python3 -m venv bin/python && bin/python/bin/pip install --quiet mcp==$(MCP)
	PATH="$(CURDIR)/bin/python/bin:$$PATH" $(GO) test -count=1 -run '^TestProgramsThroughEveryFront$$' ./cmd/convgen

.PHONY: page
page: ## Look at the page of convtools web in Chromium, and take pictures of it; wants npm and a network
	@command -v chromium >/dev/null || { apt-get update && apt-get install -y --no-install-recommends chromium; }
	@$(GO) -C $(TOOLS) run ./page $(PAGE)

.PHONY: release release-snapshot
release: ## Build the release of this commit's tag in dist, install its packages and use them; uploads nothing
release-snapshot: ## The same for a commit without a tag
release-snapshot: SNAPSHOT = --snapshot
# Goreleaser takes nothing from a checkout without a remote.
release release-snapshot: export GIT_CONFIG_COUNT = 1
release release-snapshot: export GIT_CONFIG_KEY_0 = remote.origin.url
release release-snapshot: export GIT_CONFIG_VALUE_0 = https://github.com/convtools/convtools
release release-snapshot:
	@GOBIN="$(CURDIR)/bin/tools" $(GO) install $(GORELEASER) && GOBIN="$(CURDIR)/bin/tools" $(GO) install $(CYCLONEDX)
	bin/tools/goreleaser check
	PATH="$(CURDIR)/bin/tools:$$PATH" bin/tools/goreleaser release --clean $(SNAPSHOT)
	$(GO) -C $(TOOLS) run ./release
	$(GO) -C $(TOOLS) test -count=1 -v ./release -args -installed

.PHONY: prove
prove: ## Explore the states of sessions, mutate their code, kill processes, check the order of answers, try more random cases
	for bounds in '-conversations=3 -queue=1' '-conversations=3 -queue=2' '-conversations=4 -queue=0'; do \
	  $(GO) test -count=1 -v -timeout=2h -run '^TestExplore$$' ./runtime/session -args -states=0 $$bounds || exit 1; done
	$(GO) test -count=1 -v -timeout=2h -tags explore -run '^TestMutations$$' ./runtime/session
	$(GO) test -count=1 -v -timeout=2h -run '^TestKill$$' ./runtime/session/engine -args -kills=200
	$(GO) test -count=1 -v -timeout=2h -run '^TestKilledQuery$$' ./cmd/convtools -args -kills=100
	$(GO) -C $(TOOLS) test -count=1 -v -timeout=2h -run '^TestLinearizable$$' ./prove -args -rounds=300
	TEST_CASES=50 $(GO) test -count=1 -timeout=2h ./runtime/conversations ./runtime/recall/... ./runtime/index ./runtime/session/engine ./gen/plan ./cmd/convgen \
	  ./runtime/knowledge/subjects ./runtime/store/claudecode ./runtime/store/gemini ./runtime/store/opencode ./runtime/store/internal/jpevents

# Go shrinks an interesting input for up to a minute, and shows no executions
# meanwhile.
.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME, and name those that failed
	@trap 'exit 1' INT; packages=$$($(GO) list ./...) || exit 1; failed=; for pkg in $$packages; do \
	  targets=$$($(GO) test -list '^Fuzz' $$pkg) || { echo "$$targets"; failed="$$failed $$pkg"; continue; }; \
	  for f in $$(echo "$$targets" | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$pkg || failed="$$failed $$pkg.$$f"; \
	  done; \
	done; test -z "$$failed" || { echo "failed:"; printf '  %s\n' $$failed; exit 1; }

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin dist
