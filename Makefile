# Short names for commands; make prints each command before it runs it. The table in
# .github/CONTRIBUTING.md says what each check covers, and which checks .ci/run makes.
.PHONY: demo run programs check test test-all attacks lint fips fips-all web race race-all reproduce
.PHONY: ha foreign cover bench lab compliance proof proof-all faults third third-all

# The modules below that of the product, which measure, attack and package it.
NESTED = lab perf test tools/agent tools/cose tools/release
# PKCS#11 is C: tools/agent is tested and read with it if there is a compiler, even where the
# environment says CGO_ENABLED=0, as that of .ci/run does.
WITH_C = case $$m in tools/agent) unset CGO_ENABLED ;; esac

# A whole hand in the terminal: commit, deal, prove, close, verify, tamper.
demo:
	go run ./cmd/shuffled demo

# A sandbox daemon with its state in ./shuffled-data.
run:
	go run ./cmd/shuffled serve --dev --data ./shuffled-data --listen 127.0.0.1:8080

# The three programs, static and without C, in BIN. Each is run once.
BIN ?= bin
programs:
	sh scripts/build.sh $(BIN)/shuffled
	$(BIN)/shuffled version
	$(BIN)/shuffled lab prove --only orders
	$(BIN)/shuffled bench --help >/dev/null

# One package in seconds: make check PKG=./internal/audit. For a package of a module below:
# MODULE=lab PKG=./battery.
MODULE = .
check:
	test -n "$(PKG)" || { echo 'make check PKG=./internal/audit: which package?' >&2; exit 2; }
	set -e; staticcheck=$$(go tool -n staticcheck); cd $(MODULE); \
		test -z "$$(gofmt -l $(PKG))" || { gofmt -d $(PKG); exit 1; }; \
		go vet $(PKG); $$staticcheck -checks=inherit,ST1000 $(PKG); go test -short $(PKG)

# All packages on a real PostgreSQL, found or installed if that is allowed. -short leaves
# out tests that take minutes: damage of every kind, kills under load, samples. SHORT_SKIP
# leaves out ledgers of many entries, the most keys that a file may hold, the store through
# poolers, what make web runs: TestGames and comparisons of the two implementations, and what make
# lint runs: READS. PERF leaves out lost servers.
SHORT_SKIP = ^(TestLong|TestManyHandovers|TestStoreThroughPgBouncer|TestGames|TestVectorsElsewhere|TestBothImplementations|TestPoliciesInBoth|TestTwoWrongsInBoth|TestRules|TestFilesPointDown)$$
PERF = ./bench ./cmd/... ./growth ./load
# Tests wait for disks and clocks, so twice as many packages run at a time as there are
# cores, those of LONG first, so that none of them is left alone at the end, and the modules
# below alongside; what these print comes last. go vet is a part of make lint, and is not run
# again here.
AT_ONCE = $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))
LONG = ./cmd/shuffled $(addprefix ./internal/,ledger/sequencer store/postgres witness dealer fsck verify)
# gotestsum prints a dot for each test when it ends, and what failed once more at the end.
# go build -v comes first, so that something is printed while dependencies are compiled.
test:
	sh scripts/postgres.sh
	go build -v ./...
	set -e; run="$$(go tool -n gotestsum) --format dots -- -vet=off -short -timeout 30m"; \
		export SHUFFLED_REQUIRE_POSTGRES=1; below=$$(mktemp); trap 'rm -f "$$below"' EXIT; \
		( (cd lab && $$run ./...); (cd perf && $$run $(PERF)); (cd test && $$run -count=1 ./...); \
		(cd tools/agent && unset CGO_ENABLED && $$run ./...); (cd tools/cose && $$run ./...); \
		(cd tools/release && $$run ./...)) >"$$below" 2>&1 & \
		$$run -p $(AT_ONCE) -skip '$(SHORT_SKIP)' $(LONG) ./... || failed=1; \
		wait $$! || failed=1; cat "$$below"; test -z "$${failed-}"

# The same with nothing left out, and against a witness of other software, whose module may
# have to be downloaded (SHUFFLED_REQUIRE_LITEWITNESS=1: it must build). The tests of the store and
# of the dealer also run on the newest PostgreSQL that npm has, which lacks pg_basebackup: STANDBYS need it.
STANDBYS = ^(TestFigures|TestServers)$$
test-all:
	sh scripts/postgres.sh
	cd tools/litewitness && CGO_ENABLED=0 go build -o /dev/null filippo.io/torchwood/cmd/litewitness || \
		echo '*** litewitness does not build here: the test against a foreign witness will be SKIPPED ***' >&2
	SHUFFLED_REQUIRE_POSTGRES=1 go test -timeout 20m ./...
	set -e; for m in $(NESTED); do ($(WITH_C) && \
		SHUFFLED_REQUIRE_POSTGRES=1 go test -C $$m -count=1 -timeout 20m ./...); done
	set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; if bin=$$(sh scripts/newest.sh "$$dir"); then \
		PATH=$$bin:$$PATH SHUFFLED_REQUIRE_POSTGRES=1 \
		go test -count=1 -timeout 20m -skip '$(STANDBYS)' ./internal/store/postgres ./internal/dealer; \
		else echo '*** no newer PostgreSQL could be had: SKIPPED ***' >&2; fi

# Attacks of an insider, a thief, a database administrator and a stranger against the real
# binary. SHUFFLED_ATTACKS_BINARY=FILE attacks an older build, with its deploy/roles.sql as
# SHUFFLED_ATTACKS_ROLES. SHUFFLED_ATTACKS_ALL=1 also runs the attacks that are not
# defended yet.
attacks:
	sh scripts/postgres.sh
	SHUFFLED_ATTACKS=1 SHUFFLED_REQUIRE_POSTGRES=1 go test -C test -v -count=1 -timeout 20m ./attacks

# A cluster of Patroni, etcd, HAProxy and PgBouncer, broken under load. ARGS="-rounds 10
# -from 31" continues a run that was cut off; -drills selects drills by name.
ha:
	sh scripts/ha.sh
	SHUFFLED_REQUIRE_HA=1 go test -C test -count=1 -v -timeout 24h ./ha -drills . $(ARGS)

# The newest witness and readers of other software, with our daemon. They need a newer Go
# than the product, which the go command downloads.
foreign:
	GOTOOLCHAIN=auto go test -C test/foreign -count=1 -timeout 10m .

# READS are tests that type-check the whole product to find who names what.
READS = ^(TestRules|TestFilesPointDown)$$
lint:
	test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	go test -vet=off -run '$(READS)' ./internal/arrows
	set -e; staticcheck=$$(go tool -n staticcheck); for m in . $(NESTED); do (cd $$m && \
		$(WITH_C) && go vet ./... && \
		$$staticcheck -checks=inherit,ST1000 ./... && go mod tidy -diff && go generate ./...); done
	git diff --exit-code -- '*.gen.go' '*.gen.ts' docs/COMPLIANCE.md docs/SPEC.md
	if command -v shellcheck >/dev/null; then shellcheck .ci/run scripts/*.sh deploy/*.sh; \
		else echo '*** no shellcheck here: scripts are not checked ***' >&2; fi

# Builds the product on Go's FIPS 140-3 modules, the validated one and the newest, without
# C. On the validated one it also runs the tests of the packages that decide what is dealt
# and what is proved.
fips:
	CGO_ENABLED=0 GOFIPS140=v1.26.0 go build ./...
	CGO_ENABLED=0 GOFIPS140=v1.0.0 go build ./...
	CGO_ENABLED=0 GOFIPS140=v1.0.0 go test -short $(FIPS:%=./internal/%)
FIPS = shuffle entropy outcome audit audit/openings audit/trust audit/rules audit/answers seal disclosure beacon \
	selftest keys witness

# The same for the other modules, and for the packages that keep and check the ledger.
fips-all: fips
	set -e; for m in $(NESTED); do for v in v1.0.0 v1.26.0; do \
		CGO_ENABLED=0 GOFIPS140=$$v go build -C $$m ./...; done; done
	CGO_ENABLED=0 GOFIPS140=v1.0.0 go test -short $(FIPS_ALL:%=./internal/%)
	CGO_ENABLED=0 GOFIPS140=v1.26.0 go test -short $(FIPS:%=./internal/%)
FIPS_ALL = verify ledger/... dealer/... inspect

# The second implementation, in TypeScript. The page is made from its sources, and run on
# all vectors with Node 20, and in Chromium. scripts/web.sh finds or installs both. Then
# both implementations judge the same files, and the games in docs/ are played in each
# language.
web:
	sh scripts/web.sh
	npm --prefix client/typescript test
	node --test web/*.test.mjs
	SHUFFLED_REQUIRE_NODE=1 go test -vet=off -run '^(TestVectorsElsewhere|TestBothImplementations|Test.*InBoth)$$' ./internal/verify
	SHUFFLED_REQUIRE_NODE=1 go test -vet=off -run '^TestGames$$' ./cmd/shuffled

# The machine-checked proof, by Coq, found or installed if that is allowed. The program
# that Coq extracts from it is compared with Go on all vectors and on random tapes.
TAPES = 4000
proof:
	sh scripts/proof.sh $(BIN)/recipe
	SHUFFLED_RECIPE=$(abspath $(BIN))/recipe go test -C test -count=1 -v -timeout 30m ./proof -tapes $(TAPES)

# The same on a million tapes.
proof-all: TAPES = 1000000
proof-all: proof

# Faults, put one by one into the packages that decide what is dealt, and which of them known
# answers, vectors, Coq's program, unit tests and lab prove see: tens of minutes. ARGS=-update
# writes the table in docs/LAB.md.
faults:
	sh scripts/proof.sh $(BIN)/recipe
	SHUFFLED_RECIPE=$(abspath $(BIN))/recipe go test -C test -vet=off -count=1 -v -timeout 120m \
		./proof -run TestFaults -faults $(ARGS)

# The third verifier, in Python, written from docs/SPEC.md alone. It is run on all vectors,
# and compared with shuffled verify on mutants of them. scripts/third.sh finds or installs
# what it needs; without it the tests are skipped.
MUTANTS = 500
third:
	go test -C test -count=1 -v -timeout 30m ./third -mutants $(MUTANTS)

# The same on ten thousand mutants.
third-all: MUTANTS = 10000
third-all: third

# The race detector needs a C compiler. These packages start goroutines or are called from
# several. -short and RACE_SKIP leave out work of one goroutine, on which the detector takes
# minutes and cannot find anything. SQLite, translated from C, is built without the
# detector: database/sql gives a connection of it to one caller at a time.
RACE_OF = -race -gcflags='modernc.org/...=-race=false -d=checkptr=0'
RACE = bundle codealer dealer/... entropy follow httpapi ledger/... monitor witness
RACE_SKIP = ^(TestLegalityAgreesWithModel|TestLong|TestManyDeals|TestEncryptedFiles|TestWitnessFiles|TestAuditorFiles|TestUndealtCardsStayHidden|TestBadInput|TestEveryMemberIsRefusedInWords|TestMetricsNameNobody|TestLyingCache|TestSlowFollower)$$
race:
	CGO_ENABLED=1 go test -timeout 20m $(RACE_OF) -short -skip '$(RACE_SKIP)' $(RACE:%=./internal/%)

# Every package except internal/process, which measures memory, because the detector takes
# several times as much. The packages of RACE_SHORT use few goroutines.
RACE_SHORT = audit audit/openings audit/trust audit/rules audit/answers fsck inspect keys shuffle verify
RACE_LONG = $(filter-out shuffled/internal/process $(RACE_SHORT:%=shuffled/internal/%),$(shell go list ./internal/...))
# The answers of 4,096 deals do not fit the default deadlines under the detector.
RACE_SLOW = ^(TestManyDeals)$$
RACE_LAB = . ./alarms ./battery ./controls ./exact ./kit ./labreport
race-all:
	CGO_ENABLED=1 go test -timeout 20m $(RACE_OF) -skip '$(RACE_SLOW)' $(RACE_LONG)
	CGO_ENABLED=1 go test -timeout 20m $(RACE_OF) -short -skip '$(RACE_SKIP)' $(RACE_SHORT:%=./internal/%)
	CGO_ENABLED=1 go test -C lab -timeout 20m $(RACE_OF) -short -skip '$(RACE_SKIP)' $(RACE_LAB)
	CGO_ENABLED=1 go test -C perf $(RACE_OF) ./load ./bench ./growth ./failover

# Shows that the same commit gives the same release: makes two with empty caches, compares
# them, and checks one with standard tools. Its package is installed in a new Debian, which
# needs root and debootstrap, and its image is run.
reproduce:
	sh scripts/reproduce.sh

cover:
	go test -coverprofile=cover.prof ./...
	go tool cover -func=cover.prof

# Compares shuffled with other software for the same task: about 6 minutes on an idle
# machine. ARGS="-quick" tries it, scripts/bench.sh lists the other arguments.
bench:
	sh scripts/bench.sh $(ARGS)

# Third-party suites on raw output: about 4 minutes, smoke tests. ARGS="--full" takes
# hours; scripts/lab.sh lists the other arguments.
lab:
	sh scripts/lab.sh $(ARGS)

# The tests that docs/COMPLIANCE.md names, clause by clause. ARGS="-long" takes longer.
compliance:
	go run -C lab ./compliance/run $(ARGS)
