.PHONY: test race lint fuzz bench bench-compare bench-packages golden conformance clients load browser

# The linters have a module of their own, so that the library stays small.
tool = go tool -modfile=tools/go.mod

test:
	go test ./...

race:
	go test -race -short ./...

lint:
	go vet ./...
	$(tool) golangci-lint run ./...

# Every fuzz target for FUZZTIME each.
FUZZTIME ?= 8s
fuzz:
	@set -e; for file in $$(grep -rl --include='*_test.go' '^func Fuzz' . | sort); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do \
			echo "== $$(dirname $$file) $$target"; \
			(cd $$(dirname $$file) && go test . -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x); \
		done; \
	done

# The providers' own clients against what we write, and what they write against us.
conformance:
	cd conformance && go test -timeout 20m ./...

# The page of the playground in a headless Chromium, which must be in PATH. Pictures go to the folder of CALLWRIGHT_SCREENSHOTS.
browser:
	cd console/e2e && go test .

# Makes the clients of the npm registry present for them.
clients:
	cd conformance/clients && npm ci --no-audit --no-fund

# The interceptor beside a plain reverse proxy: bounded, on this machine only.
load:
	go run ./internal/load

# What each benchmark is run with: the fastest of COUNT runs counts.
COUNT ?= 6
BENCHTIME ?= 200ms
benchmarks = go test . -run '^$$' -benchmem -benchtime $(BENCHTIME) -timeout 60m

# callwright beside other readers, on the same texts in the same run: prints the ratios and
# writes them into docs/performance.md.
bench:
	@out=$$(mktemp); trap 'rm -f $$out' EXIT; cd bench && $(benchmarks) -bench . -count $(COUNT) >$$out && \
	go run ./ratios <$$out && go run ./ratios -into ../docs/performance.md <$$out

# What a change did: the same benchmarks of callwright alone at a commit BASE and here, in
# turns, so that both see the same load of the machine.
bench-compare:
	@test -n "$(BASE)" || { echo 'say what to compare with: make bench-compare BASE=<commit>'; exit 2; }
	@set -e; dir=$$(mktemp -d); trap 'git worktree remove --force $$dir/base; rm -rf $$dir' EXIT; \
	git worktree add --quiet --detach $$dir/base $(BASE); rm -rf $$dir/base/bench; cp -R bench $$dir/base/bench; \
	for i in $$(seq $(COUNT)); do \
		(cd $$dir/base/bench && $(benchmarks) -bench '(Parse|Tools)/././callwright' >>$$dir/base.txt); \
		(cd bench && $(benchmarks) -bench '(Parse|Tools)/././callwright' >>$$dir/here.txt); \
	done; \
	$(tool) benchstat base=$$dir/base.txt here=$$dir/here.txt

# The packages' own benchmarks.
bench-packages:
	go test ./internal/lenient ./parser ./cache ./adapters/formats -run '^$$' -bench . -benchmem

# Rewrites the golden files and the tables of the documents: look at the difference. The
# packages are those whose tests use internal/golden, which has the flag.
golden:
	go test $$(grep -rl --include='*_test.go' '/internal/golden"' . | xargs -n1 dirname | sort -u) -update
