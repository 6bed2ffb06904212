# The two commands of the README: `make run` and `make test`. Both install what is missing first.
BUILD ?= build
JOBS ?= $(shell nproc)

.PHONY: all packages check-packages build run test lint sanitize clean

all: build

packages:
	@bash scripts/packages.sh build test

build: packages
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release > $(BUILD)-configure.log 2>&1 \
	  || { cat $(BUILD)-configure.log; exit 1; }
	@rm -f $(BUILD)-configure.log
	@cmake --build $(BUILD) -j $(JOBS)

# The main job on a built-in target. Exit code 3 means that the diagnostics warn: that is shown, not hidden.
run: build
	@$(BUILD)/aisampler run mog6 --out out/mog6
	@echo "report: out/mog6/report.html; numbers: out/mog6/summary.json; draws: out/mog6/draws.nc (ArviZ) and out/mog6/draws-*.csv (Stan CSV)"

check-packages:
	@bash scripts/packages.sh build test check

test: check-packages build
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

# Short forms of what takes minutes under sanitizers: every path through memory once. Whether laws hold, make test tells.
SHORT = AIS_BRIEF=1 AIS_LAW_CHAINS=40 AIS_INVOLUTION_STATES=1 AIS_INVARIANCE_DRAWS=2000
WITHOUT_SANITIZERS = law/(invariance|anice|learning|empirical|hmc_regressions)|cli/(arviz|read_by|documentation|honesty|ranks|report_browser|reproduce|resume|benchmarks)

sanitize: check-packages
	@cmake -S . -B build-sanitize -G Ninja -DCMAKE_BUILD_TYPE=Debug -DAIS_SANITIZE=ON > /dev/null
	@cmake --build build-sanitize -j $(JOBS)
	@LSAN_OPTIONS=print_suppressions=0:suppressions=$(CURDIR)/tests/support/leaks.txt $(SHORT) \
	  ctest --test-dir build-sanitize --output-on-failure -j $(JOBS) -E '$(WITHOUT_SANITIZERS)'

lint:
	@bash scripts/packages.sh build lint
	@bash scripts/lint.sh $(BUILD)

clean:
	rm -rf build build-sanitize out
