# The two commands of the README: `make run` and `make test`. Both install what is missing first.
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: all packages check-packages build command run install docs test lint sanitize races fuzz clean

all: build

packages:
	@bash scripts/packages.sh build test

CONFIGURE = { cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release $(1) > $(BUILD)-configure.log 2>&1 \
	  || { cat $(BUILD)-configure.log; exit 1; }; rm -f $(BUILD)-configure.log; }

build: packages
	@$(call CONFIGURE,-DBUILD_TESTING=ON)
	@cmake --build $(BUILD) -j $(JOBS)

# The command and its library, without tests and benches.
command:
	@bash scripts/packages.sh build
	@$(call CONFIGURE,-DBUILD_TESTING=OFF)
	@cmake --build $(BUILD) -j $(JOBS) --target aisampler_command

# Command, man pages, completions, library, headers, pkg-config and CMake package: make install PREFIX=/usr/local DESTDIR=/where/to/stage
install: command
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX) > $(BUILD)-install.log || { cat $(BUILD)-install.log; exit 1; }
	@rm -f $(BUILD)-install.log
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" != 0 ] || ldconfig || true # so that programs find the library at once
	@echo "aisampler is in $(DESTDIR)$(PREFIX)"

# The main job on a built-in target. Exit code 3 means that the diagnostics warn: that is shown, not hidden.
run: command
	@$(BUILD)/aisampler run mog6 --out out/mog6
	@echo "report: out/mog6/report.html; numbers: out/mog6/summary.json; draws: out/mog6/draws.nc (ArviZ) and out/mog6/draws-*.csv (Stan CSV)"

# The pages of docs/ and the reference as one site.
docs: command
	@bash scripts/packages.sh docs
	@bash scripts/docs.sh $(BUILD)

check-packages:
	@bash scripts/packages.sh build test check

test: check-packages build
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

# Short forms of what takes minutes under sanitizers: every path through memory once. Whether laws hold, make test tells.
SHORT = AIS_BRIEF=1 AIS_LAW_CHAINS=40 AIS_INVOLUTION_STATES=1 AIS_INVARIANCE_DRAWS=2000
WITHOUT_SANITIZERS = python|fault/(drawing|inject|limits)|law/(anice|empirical|hmc_regressions)|cli/(arviz|edges|examples|docs_site|read_by|documentation|honesty|install|ranks|report_browser|reproduce|resume|benchmarks|same_bytes|compare)

sanitize: check-packages
	@cmake -S . -B build-sanitize -G Ninja -DCMAKE_BUILD_TYPE=Debug -DAIS_SANITIZE=ON > /dev/null
	@cmake --build build-sanitize -j $(JOBS)
	@LSAN_OPTIONS=print_suppressions=0:suppressions=$(CURDIR)/tests/support/leaks.txt $(SHORT) AIS_ENVIRONMENTS=$(CURDIR)/$(BUILD) \
	  ctest --test-dir build-sanitize --output-on-failure -j $(JOBS) -E '$(WITHOUT_SANITIZERS)'

# Threads under ThreadSanitizer: the tests that have some. Not law/allocation, whose own malloc it does not bear.
THREADED = unit/(base|run|going_on|ranks|budgets|loop|weights|resume)|law/(latent|ladder)
races: check-packages
	@cmake -S . -B build-races -G Ninja -DCMAKE_BUILD_TYPE=Debug -DAIS_SANITIZE=thread -DAIS_MPI=OFF > /dev/null
	@cmake --build build-races -j $(JOBS)
	@TSAN_OPTIONS=halt_on_error=1:suppressions=$(CURDIR)/tests/support/races.txt $(SHORT) ctest --test-dir build-races --output-on-failure -j $(JOBS) -R '$(THREADED)'

# Attacks on the readers of files and words, SECONDS each.
SECONDS ?= 60
fuzz:
	@bash tests/fuzz/run.sh $(SECONDS)

lint:
	@bash scripts/packages.sh build lint
	@bash scripts/lint.sh $(BUILD)

clean:
	rm -rf build build-sanitize build-races build-fuzz out
