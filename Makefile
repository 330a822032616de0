# Thin names for plain commands; make prints each one before it runs it.
.PHONY: demo run test attacks race fips web lint cover bench lab compliance

# The modules below that of the product: what measures it and what attacks it.
NESTED = lab perf test

# A whole hand in the terminal: commit, deal, prove, close, verify, tamper.
demo:
	go run ./cmd/shuffled demo

# A sandbox daemon with its state in ./shuffled-data.
run:
	go run ./cmd/shuffled serve --dev --data ./shuffled-data --listen 127.0.0.1:8080

# Everything, on a real PostgreSQL: found, or installed where that is allowed; and
# against a foreign witness, whose module may have to be downloaded
# (SHUFFLED_REQUIRE_LITEWITNESS=1: it must build).
test:
	sh scripts/postgres.sh
	cd tools/litewitness && CGO_ENABLED=0 go build -o /dev/null filippo.io/torchwood/cmd/litewitness || \
		echo '*** litewitness does not build here: the test against a foreign witness will be SKIPPED ***' >&2
	SHUFFLED_REQUIRE_POSTGRES=1 go test -timeout 20m ./...
	set -e; for m in $(NESTED); do SHUFFLED_REQUIRE_POSTGRES=1 go test -C $$m -timeout 20m ./...; done

# What an insider, a thief, a database administrator or a stranger would try, against
# the real binary. SHUFFLED_ATTACKS_BINARY=FILE attacks an older build, with its
# deploy/roles.sql as SHUFFLED_ATTACKS_ROLES; SHUFFLED_ATTACKS_ALL=1 also runs the
# attacks whose defence is still to come.
attacks:
	sh scripts/postgres.sh
	SHUFFLED_ATTACKS=1 SHUFFLED_REQUIRE_POSTGRES=1 go test -C test -v -count=1 -timeout 20m ./attacks

# The race detector needs a C compiler. These packages run -short: what that leaves
# out is arithmetic, codecs, scrypt, damage tried entry by entry, and a build of the
# whole, each in one goroutine, where the detector takes minutes and has nothing to
# find. What starts goroutines of its own stays: workers, streams, a ledger that is
# written while fsck reads. make test runs all of it, without the detector.
RACE_SHORT = audit fsck inspect keys shuffle
# internal/process measures memory, of which the detector takes several times as much.
RACE = $(filter-out shuffled/internal/process $(RACE_SHORT:%=shuffled/internal/%),$(shell go list ./internal/...))
RACE_SKIP = ^(TestLegalityAgreesWithModel|TestLong|TestEncryptedFiles|TestWitnessFiles|TestAuditorFiles)$$
# The answers of 4,096 deals do not fit the default deadlines under the detector.
RACE_SLOW = ^TestManyDeals$$
race:
	CGO_ENABLED=1 go test -race -skip '$(RACE_SLOW)' $(RACE)
	CGO_ENABLED=1 go test -race -short -skip '$(RACE_SKIP)' $(RACE_SHORT:%=./internal/%)
	CGO_ENABLED=1 go test -C lab -race -short -skip '$(RACE_SKIP)' . ./alarms ./battery ./controls ./exact ./kit ./labreport
	CGO_ENABLED=1 go test -C perf -race ./load ./bench ./growth ./failover

# The packages that decide what is dealt and what is proved, on Go's FIPS 140-3
# module, without C. Short: each of its functions, not as often.
fips:
	set -e; for m in . $(NESTED); do CGO_ENABLED=0 GOFIPS140=v1.0.0 go build -C $$m ./...; done
	CGO_ENABLED=0 GOFIPS140=v1.0.0 go test -short $(FIPS)
FIPS = ./internal/shuffle ./internal/entropy ./internal/outcome ./internal/audit ./internal/verify \
	./internal/keys ./internal/seal ./internal/disclosure ./internal/ledger ./internal/dealer ./internal/witness ./internal/inspect \
	./internal/selftest

# The second implementation, in JavaScript: on all vectors with Node 20, and in
# Chromium where there is one. scripts/web.sh finds or installs both.
web:
	node --test web/*.test.mjs

lint:
	test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	set -e; staticcheck=$$(go tool -n staticcheck); for m in . $(NESTED); do (cd $$m && go vet ./... && \
		$$staticcheck -checks=inherit,ST1000 ./... && go mod tidy -diff && go generate ./...); done
	git diff --exit-code -- '*.gen.go' docs/COMPLIANCE.md docs/SPEC.md web/verify.html

cover:
	go test -coverprofile=cover.prof ./...
	go tool cover -func=cover.prof

# shuffled beside what a user would pick instead: about 6 minutes on an idle
# machine. ARGS="-quick" tries it, scripts/bench.sh lists the others.
bench:
	sh scripts/bench.sh $(ARGS)

# Outside suites on raw output: about 4 minutes, smoke tests. ARGS="--full" takes
# hours; scripts/lab.sh lists the others.
lab:
	sh scripts/lab.sh $(ARGS)

# What docs/COMPLIANCE.md names, clause by clause. ARGS="-long" takes longer.
compliance:
	go run -C lab ./compliance/run $(ARGS)
