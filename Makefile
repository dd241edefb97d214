# Halite. `make help` lists the targets. Everything built goes under $(BUILD); nothing generated is committed.

BUILD   ?= build
SAN     ?=
V       ?=
ifeq ($(origin CC),default)
  CC := gcc
endif
DESTDIR ?=
PREFIX  ?= /usr
SYSCONF ?= $(filter-out /usr,$(PREFIX))/etc/salt
UNITS   ?= /lib/systemd/system
# The Salt whose words Halite speaks: `test.version`, the grain `saltversion` and all who compare versions see this one.
HALITE_VERSION := 3006.0
# Halite's own, a semantic version; "-dev" until the commit that a tag names (README.md, Versions).
HALITE_RELEASE := 1.0.0-dev
# When it was released, for the manual pages: a build of the same sources is the same on any day.
HALITE_DATE    := 2026-11-25
comma   := ,
.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules

# ---- flags -------------------------------------------------------------------------------------------------------
# A row of a table leaves out its last members where it needs none of them: they are zero.
WARN   := -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wshadow -Wmissing-prototypes -Wwrite-strings -Wformat=2 -Werror
HARDEN := -fstack-protector-strong -fPIE -D_FORTIFY_SOURCE=2
OPT    := -O2 -g
ifneq ($(SAN),)
  # A sanitizer replaces the fortified functions by its own. gcc leaves out what a number too large for an integer becomes.
  HARDEN := -fPIE
  OPT    := -O1 -g -fno-omit-frame-pointer -fsanitize=$(SAN) -fno-sanitize-recover=all \
            $(if $(findstring undefined,$(SAN)),-fsanitize=float-cast-overflow)
endif
CPPFLAGS := -Iinclude -Isrc -I$(BUILD) -D_GNU_SOURCE -DHALITE_VERSION='"$(HALITE_VERSION)"' -DHALITE_RELEASE='"$(HALITE_RELEASE)"'
CFLAGS   := -std=gnu17 $(WARN) $(HARDEN) $(OPT) -ffunction-sections -fdata-sections $(CFLAGS_ADD)
# Packed relocations: the tables of plug-ins are pointers, half a megabyte of them otherwise, read at every start.
LDFLAGS  := -pie -Wl,-z,relro,-z,now,-z,pack-relative-relocs -Wl,--as-needed -Wl,--gc-sections $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS_ADD)
PKG_CONFIG ?= pkg-config
LIBDIR   := $(shell $(PKG_CONFIG) --variable=libdir libzmq 2>/dev/null)

# The minion links libzmq and what it needs statically where Debian's archives are there: two megabytes less per
# minion than through the shared libraries' relocations; main_zmq.c stands for what it wants and never uses. Sanitizer builds and
# other systems use the shared ones.
ZMQ_ARCHIVES := $(addprefix $(LIBDIR)/,libzmq.a libsodium.a libpgm.a libnorm.a libprotokit.a)
ifeq ($(SAN)$(words $(wildcard $(ZMQ_ARCHIVES))),5)
  ZMQ_SMALL := $(ZMQ_ARCHIVES) -l:libstdc++.a -static-libgcc -lgssapi_krb5 -lmd -lm -lpthread
  ZMQ_OWN   := $(BUILD)/obj/src/minion/main_zmq.o
else
  ZMQ_SMALL := -lzmq -lsodium -lpthread
endif
# A sanitizer has a crypt_r of its own that calls the real one, which the linker would find no need for.
CRYPT     := $(if $(SAN),-Wl$(comma)--push-state$(comma)--no-as-needed) -lcrypt $(if $(SAN),-Wl$(comma)--pop-state)
LIBS_BASE := -ljansson -lyaml -lpcre2-8 -lsodium -lgmp -lmd $(CRYPT) -lz -lm -lpthread

# ---- sources -----------------------------------------------------------------------------------------------------
sources  = $(sort $(wildcard $(addsuffix /*.c,$(1))))
# Every folder of a layer, at any depth.
folders  = $(sort $(patsubst %/,%,$(dir $(shell find $(1) -name '*.c' 2>/dev/null))))
objects  = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
COMMON  := $(call sources,$(call folders,src/common src/pyhost))
MASTER  := $(filter-out src/master/main_%,$(call sources,$(call folders,src/master)))
MINION  := $(filter-out src/minion/main_%,$(call sources,$(call folders,src/minion)))
PLUGINS := $(filter-out src/plugins/main_%,$(call sources,$(call folders,src/plugins)))
KEYRING := $(call sources,$(call folders,src/keyring))
UPLINK  := $(call sources,$(call folders,src/uplink))
RUNNERS := $(call sources,$(call folders,src/runners))
AUTH    := $(filter-out src/auth/main_%,$(call sources,$(call folders,src/auth)))
CLI     := $(filter-out src/cli/main_%,$(call sources,$(call folders,src/cli)))
API     := $(filter-out src/api/main_%,$(call sources,src/api))
BINS    := salt-master salt-minion salt salt-run salt-key salt-call salt-cp salt-api
# Programs that a daemon starts: no user calls them, and they have no manual page.
PRIVATE := salt-follower salt-engine
BIN     := $(addprefix $(BUILD)/bin/,$(BINS) $(PRIVATE))
FOLLOWER := $(filter-out src/follower/main_%,$(call sources,src/follower))

# The package salt for users' modules and scripts, and the one file of it that the build writes.
PYTHON_FILES   := $(sort $(shell find src/pyhost/salt -name '*.py'))
PYTHON_BUILT   := $(BUILD)/python/salt/_built.py
PYTHON         := $(PYTHON_FILES:src/pyhost/%=$(BUILD)/python/%) $(PYTHON_BUILT)

.PHONY: all
all: $(BIN)
# Programs that others start: no commands.
PRIVATE := $(BUILD)/bin/salt-auth
$(BUILD)/bin/salt-master: | $(PRIVATE)
# Interpreters of the programs look for it beside them.
$(BIN): | $(PYTHON)
$(PYTHON_FILES:src/pyhost/%=$(BUILD)/python/%): $(BUILD)/python/%: src/pyhost/%
	@mkdir -p $(@D); cp $< $@
$(PYTHON_BUILT): FORCE
	@mkdir -p $(@D)
	@printf '"""The version of Salt that the programs speak as, and the folder of their configuration."""\n\nVERSION = "%s"\nCONFIG_DIR = "%s"\n' \
	    '$(HALITE_VERSION)' '$(SYSCONF)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# ---- generated tables: a plug-in's file name becomes a declaration and a row (include/salt/kinds.def) --------------
GEN := $(BUILD)/gen/builtin_agent.inc $(BUILD)/gen/builtin_master.inc
$(BUILD)/gen/builtin_agent.inc:  PROGRAM := AGENT
$(BUILD)/gen/builtin_master.inc: PROGRAM := MASTER
$(GEN): FORCE
	@mkdir -p $(@D)
	@sh src/plugins/collect.sh $(PROGRAM) > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
.PHONY: FORCE
FORCE:

# The configuration folder of programs that are not told one. Whoever builds for another PREFIX gives it to `make` too.
$(BUILD)/gen/places.h: FORCE
	@mkdir -p $(@D)
	@echo '#define HALITE_CONF_DIR "$(SYSCONF)"' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(call objects,src/common/conf/startup.c src/common/cli/opt_tables.c): $(BUILD)/gen/places.h

# Names of the runners, as lines of salt-run --help, which is no part of the master.
RUNNER_NAMES := $(BUILD)/gen/runner_names.inc
$(RUNNER_NAMES): FORCE
	@mkdir -p $(@D)
	@echo $(sort $(basename $(notdir $(wildcard src/runners/*.c)))) | fold -s -w 78 | sed 's/ *$$//; s/.*/"  &\\n"/' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(call objects,src/cli/opts_run.c): $(RUNNER_NAMES)

# Programs that python3 runs for "#!py" files and for custom modules, as texts of C.
$(BUILD)/gen/python_boot.inc: src/common/python/boot.py
$(BUILD)/gen/python_host.inc: src/common/python/host.py
$(BUILD)/gen/python_zygote.inc: src/common/python/zygote.py
# src/pyhost has several parts of one, of which loader.py is the first.
PYHOST_PARTS := src/pyhost/loader.py $(filter-out src/pyhost/loader.py,$(sort $(wildcard src/pyhost/*.py)))
$(BUILD)/gen/pyhost_parts.inc: $(PYHOST_PARTS)
# The page of salt-api, a row {name, text} of C for each file.
PAGE_FILES := $(sort $(wildcard src/api/page/*.*))
PAGE_TEXTS := $(BUILD)/gen/page_files.inc
$(PAGE_TEXTS): $(PAGE_FILES)
	@mkdir -p $(@D)
	@for file in $^; do echo "{ \"$${file##*/}\","; $(call python_text,"$$file"); echo "},"; done > $@
$(call objects,src/api/page.c): $(PAGE_TEXTS)
PYTHON_TEXTS := $(addprefix $(BUILD)/gen/,python_boot.inc python_host.inc python_zygote.inc pyhost_parts.inc)
python_text = sed 's/[\\"?]/\\&/g; s/.*/"&\\n"/' $(1)
$(addprefix $(BUILD)/gen/,python_boot.inc python_host.inc python_zygote.inc):
	@mkdir -p $(@D)
	@$(call python_text,$<) > $@
$(BUILD)/gen/pyhost_parts.inc:
	@mkdir -p $(@D)
	@for part in $^; do echo "{ \"$${part##*/}\","; $(call python_text,"$$part"); echo "},"; done > $@
$(call objects,src/common/python/python.c src/pyhost/host.c src/pyhost/zygote.c): $(PYTHON_TEXTS)

# ---- objects and libraries ----------------------------------------------------------------------------------------
$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(if $(V),,@echo '  CC  $<';)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
define archive
	@rm -f $@
	@ar rcsD $@ $^
endef
$(BUILD)/libhalite.a: $(call objects,$(COMMON)); $(archive)
$(BUILD)/libmaster.a: $(call objects,$(MASTER)); $(archive)
$(BUILD)/libminion.a: $(call objects,$(MINION)); $(archive)
$(BUILD)/libplugins.a: $(call objects,$(PLUGINS)); $(archive)
$(BUILD)/libkeyring.a: $(call objects,$(KEYRING)); $(archive)
$(BUILD)/libuplink.a: $(call objects,$(UPLINK)); $(archive)
$(BUILD)/librunners.a: $(call objects,$(RUNNERS)); $(archive)
$(BUILD)/libcli.a: $(call objects,$(CLI)); $(archive)
$(BUILD)/libauth.a: $(call objects,$(AUTH)); $(archive)
$(BUILD)/libfollower.a: $(call objects,$(FOLLOWER)); $(archive)
$(BUILD)/libapi.a: $(call objects,$(API)); $(archive)

# What a program has of plug-ins: objects whose tables are collected from file names wait for them.
AGENT_ROWS  := $(BUILD)/obj/src/plugins/main_agent.o
MASTER_ROWS := $(BUILD)/obj/src/plugins/main_master.o
$(AGENT_ROWS) $(MASTER_ROWS): $(GEN)

link = @mkdir -p $(@D); $(if $(V),set -x;,echo '  LD  $@';) $(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(1)
H := $(BUILD)/libhalite.a
obj1 = $(call objects,$(1))
$(BUILD)/bin/salt-master: $(call obj1,src/master/main_master.c) $(MASTER_ROWS) $(BUILD)/libmaster.a $(BUILD)/libkeyring.a $(BUILD)/librunners.a $(BUILD)/libplugins.a $(BUILD)/libminion.a $(BUILD)/libuplink.a $H
	$(call link,-lczmq -lzmq -lsqlite3 $(LIBS_BASE))
$(BUILD)/bin/salt-auth: $(call obj1,src/auth/main_auth.c) $(BUILD)/libauth.a $(BUILD)/libplugins.a $H
	$(call link,$(LIBS_BASE))
$(addprefix $(BUILD)/bin/,salt-minion salt-call salt-follower salt-engine): $(ZMQ_OWN)
$(BUILD)/bin/salt-minion: $(call obj1,src/minion/main_minion.c) $(AGENT_ROWS) $(BUILD)/libminion.a $(BUILD)/libuplink.a $(BUILD)/libplugins.a $H
	$(call link,$(ZMQ_SMALL) $(LIBS_BASE))
$(BUILD)/bin/salt-call: $(call obj1,src/minion/main_call.c) $(AGENT_ROWS) $(BUILD)/libminion.a $(BUILD)/libuplink.a $(BUILD)/libplugins.a $(BUILD)/libcli.a $H
	$(call link,$(ZMQ_SMALL) $(LIBS_BASE))
$(BUILD)/bin/salt-follower: $(call obj1,src/follower/main_follower.c) $(AGENT_ROWS) $(BUILD)/libfollower.a $(BUILD)/libplugins.a $(BUILD)/libminion.a $(BUILD)/libuplink.a $H
	$(call link,$(ZMQ_SMALL) $(LIBS_BASE))
$(BUILD)/bin/salt-engine: $(call obj1,src/engine/main_engine.c src/engine/resolve.c) $(AGENT_ROWS) $(BUILD)/libplugins.a $(BUILD)/libminion.a $(BUILD)/libuplink.a $H
	$(call link,$(ZMQ_SMALL) $(LIBS_BASE))
$(BUILD)/bin/salt: $(call obj1,src/cli/main_salt.c) $(BUILD)/libcli.a $H
	$(call link,$(LIBS_BASE))
$(BUILD)/bin/salt-run: $(call obj1,src/cli/main_run.c) $(BUILD)/libcli.a $H
	$(call link,$(LIBS_BASE))
$(BUILD)/bin/salt-cp: $(call obj1,src/cli/main_cp.c) $(BUILD)/libcli.a $H
	$(call link,$(LIBS_BASE))
$(BUILD)/bin/salt-key: $(call obj1,src/cli/main_key.c) $(BUILD)/libkeyring.a $(BUILD)/libcli.a $H
	$(call link,$(LIBS_BASE))

$(BUILD)/bin/salt-api: $(call obj1,src/api/main_api.c) $(BUILD)/libapi.a $H
	$(call link,-lmicrohttpd -lgnutls $(LIBS_BASE))

# ---- tests ---------------------------------------------------------------------------------------------------------
UNIT_SRC  := $(call sources,$(call folders,tests/unit))
UNIT_BIN  := $(patsubst %.c,$(BUILD)/%,$(UNIT_SRC))
UNIT_LIBS := $(BUILD)/libmaster.a $(BUILD)/libkeyring.a $(BUILD)/librunners.a $(BUILD)/libplugins.a $(BUILD)/libminion.a $(BUILD)/libuplink.a $(BUILD)/libcli.a $(BUILD)/libauth.a $(BUILD)/libfollower.a $(BUILD)/libapi.a $H
$(UNIT_BIN): CPPFLAGS += -Itests -DTEST_SOURCE_DIR='"$(CURDIR)"'
$(UNIT_BIN): $(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(UNIT_LIBS)
	$(call link,-lcmocka -lczmq -lzmq -lsqlite3 $(LIBS_BASE))
# Interpreters of these programs find the package salt where those of the daemons do: beside the program's folder.
$(UNIT_BIN): | $(BUILD)/tests/unit/python $(PYTHON)
$(BUILD)/tests/unit/python:
	@mkdir -p $(@D); ln -sfn ../../python $@
$(filter $(BUILD)/tests/unit/manual/%,$(UNIT_BIN)): $(AGENT_ROWS) $(BUILD)/libmanual.a
# Tests of a daemon's plug-ins see the real tables.
$(filter $(BUILD)/tests/unit/minion/% $(BUILD)/tests/unit/plugins/%,$(UNIT_BIN)): $(AGENT_ROWS)
$(filter $(BUILD)/tests/unit/master/% $(BUILD)/tests/unit/runners/%,$(UNIT_BIN)): $(MASTER_ROWS)
.SECONDARY: $(call objects,$(UNIT_SRC))

# Makes a long past for whole-program tests too.
HISTORY := $(BUILD)/tests/bench/history

# Tools of the whole-program tests: an operator's line to a master, and hostile peers.
TOOL_BIN := $(patsubst %.c,$(BUILD)/%,$(filter-out tests/lib/cases.c,$(wildcard tests/lib/*.c)))
$(TOOL_BIN): $(BUILD)/tests/lib/%: $(BUILD)/obj/tests/lib/%.o $H
	$(call link,-lczmq -lzmq $(LIBS_BASE))

# Libraries that the whole-program tests preload into ours.
PRELOAD := $(patsubst %.c,$(BUILD)/%.so,$(wildcard tests/preload/*.c))
$(PRELOAD): $(BUILD)/%.so: %.c
	@mkdir -p $(@D); echo '  LD  $@'; $(CC) -shared -fPIC -O1 -Wall -Wextra -Wno-unused-parameter -Wshadow -Werror -o $@ $<

# The n-th allocation, write, fsync, fork ... fails, for every n, in every scenario of tests/inject: hours.
# make inject INJECT="--scenario 'key-*' --kind alloc --places". WRAP=1 builds programs that do without preloading, as a
# sanitizer needs it: make inject BUILD=build/wrap SAN=address WRAP=1 INJECT='--wrapped --kind alloc ...'
WRAP ?=
ifneq ($(WRAP),)
  $(BIN): $(BUILD)/tests/preload/wrap.o
  $(BIN): LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=%,main malloc calloc realloc strndup vasprintf fork setsid)
endif
$(BUILD)/tests/preload/wrap.o: tests/preload/inject.c
	@mkdir -p $(@D); $(CC) -c -fPIC -O1 -g -Wall -Wextra -Wno-unused-parameter -Wshadow -Werror -DINJECT_WRAP -o $@ $<
.PHONY: inject
inject: $(BIN) $(PRELOAD)
	@/usr/bin/python3 -B tests/inject/inject.py $(BUILD) $(INJECT)

# Runs case files: $(BUILD)/tests/cases PATH...
CASES := $(BUILD)/tests/cases
$(call objects,tests/lib/cases.c): CPPFLAGS += -Itests
$(CASES): $(call objects,tests/lib/cases.c) $H
	$(call link,$(LIBS_BASE))

# Random templates, Jinja2's answer against ours: make check-random TEMPLATES=100000 SEED=7
TEMPLATES ?= 10000
SEED      ?= 1
.PHONY: check-random check-trees
check-random: $(CASES)
	@/usr/bin/python3 -B tests/oracle/jinja_random.py --check $(CASES) $(TEMPLATES) $(SEED)
# The same with the templates of real state trees: make check-trees TREES='DIR...'
check-trees: $(CASES)
	@/usr/bin/python3 -B tests/oracle/jinja_files.py $(CASES) $(TREES)

# A fuzz target is replayed over its corpus by any compiler, and searched by clang's libFuzzer.
FUZZ      := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_BIN  := $(addprefix $(BUILD)/tests/fuzz/replay_,$(FUZZ))
FUZZ_LIVE := $(addprefix $(BUILD)/tests/fuzz/search_,$(FUZZ))
$(FUZZ_BIN): $(BUILD)/tests/fuzz/replay_%: $(BUILD)/obj/tests/fuzz/fuzz_%.o $(BUILD)/obj/tests/fuzz/main.o $(UNIT_LIBS)
	$(call link,-lczmq -lzmq -lsqlite3 $(LIBS_BASE))
$(FUZZ_LIVE): $(BUILD)/tests/fuzz/search_%: $(BUILD)/obj/tests/fuzz/fuzz_%.o $(UNIT_LIBS)
	$(call link,-fsanitize=fuzzer -lczmq -lzmq -lsqlite3 $(LIBS_BASE))
.SECONDARY: $(FUZZ:%=$(BUILD)/obj/tests/fuzz/fuzz_%.o)
$(call objects,tests/fuzz/fuzz_spans.c): CPPFLAGS += -Itests

# BATS narrows the whole-program tests: make check-t BATS='tests/t/03*.bats'
BATS     ?= $(sort $(wildcard tests/t/*.bats)) $(sort $(wildcard tests/museum/*.bats))
RUN      := SAN='$(SAN)' BUILD=$(abspath $(BUILD)) tests/lib/run.sh
# The project's case files, and recorded ones where they are there.
HALITE_CASES ?= ../shared/cases
# Tests of the package salt.
PYTHON_TESTS ?= $(sort $(wildcard tests/pyhost/test_*.py))
CASE_DIRS := tests/cases/jinja tests/cases/py $(wildcard $(HALITE_CASES))
.PHONY: deps check-unit check-python hostile check-peer check-cases check-fuzz check-t test lint asan ubsan tsan fuzz
deps:
	@tests/lib/deps.sh build test
check-unit: $(UNIT_BIN)
	@$(RUN) unit $(UNIT_BIN)
check-python: $(PYTHON)
	@$(RUN) python $(PYTHON_TESTS)
# Names that want to leave their folders, NAMES for each place that makes paths of them; with openat2 and without.
hostile: $(BUILD)/tests/unit/common/test_beneath $(BUILD)/tests/unit/master/test_hostile
	@SECONDS_MAX=1800 NAMES=$(or $(NAMES),10000) $(RUN) unit $^
# A peer's values in every argument of every filter and method: ROUNDS trials each, TEMPLATES at random.
check-peer: $(BUILD)/tests/unit/common/test_py_peer_walk
	@ROUNDS=$(or $(ROUNDS),1000) TEMPLATES=$(TEMPLATES) SEED=$(SEED) $(RUN) unit $^
# Every state over random inputs, for real, in machines of their own: make check-states INPUTS=20 SEED=7 ONLY=iptables,file.line
.PHONY: check-states
check-states: $(BIN)
	@/usr/bin/python3 -B tests/property/run.py $(BUILD) --inputs $(or $(INPUTS),5) --seed $(SEED) $(if $(ONLY),--only $(ONLY)) --tally
check-cases: $(CASES)
	@$(RUN) cases $(CASE_DIRS)
check-fuzz: $(FUZZ_BIN)
	@$(RUN) fuzz $(FUZZ_BIN)
check-t: $(BIN) $(PYTHON) $(BUILD)/manual $(BUILD)/tests/lint/tables $(TOOL_BIN) $(PRELOAD) $(HISTORY)
	@$(RUN) bats $(BATS)
test: deps
	@$(MAKE) --no-print-directory $(BIN) $(PYTHON) $(BUILD)/manual $(UNIT_BIN) $(CASES) $(FUZZ_BIN) $(TOOL_BIN) $(PRELOAD) $(HISTORY)
	@$(RUN) unit $(UNIT_BIN) -- python $(PYTHON_TESTS) -- cases $(CASE_DIRS) -- fuzz $(FUZZ_BIN) -- bats $(BATS)

# The same tests with a sanitizer in programs and tests; of the whole-program tests those with the most in them.
SAN_BATS ?= $(wildcard tests/t/1*.bats tests/t/3*.bats)
asan:  ; @$(call sanitized,asan,address)
ubsan: ; @$(call sanitized,ubsan,undefined)
tsan:  ; @$(call sanitized,tsan,thread)
sanitized = $(MAKE) --no-print-directory BUILD=$(BUILD)/$(1) SAN=$(2) BATS='$(SAN_BATS)' sanitized
.PHONY: sanitized
sanitized: $(BIN) $(BUILD)/manual $(UNIT_BIN) $(CASES) $(FUZZ_BIN) $(TOOL_BIN) $(PRELOAD) $(HISTORY)
	@$(RUN) unit $(UNIT_BIN) -- cases $(CASE_DIRS) -- fuzz $(FUZZ_BIN) $(if $(BATS),-- bats $(BATS))

# And below memcheck: half an hour.
.PHONY: valgrind analyze
VALGRIND_BATS ?= tests/t/0100-salt-key.bats tests/t/0310-salt-cli.bats tests/t/1100-auth.bats tests/t/4200-states.bats
valgrind: $(BIN) $(UNIT_BIN) $(TOOL_BIN) $(PRELOAD)
	@BUILD=$(BUILD) tests/lib/valgrind.sh $(VALGRIND_BATS)
# What compilers and others find by reading; what they find wrongly is in tests/analyze/explained.
analyze: $(BIN)
	@BUILD=$(BUILD) tests/analyze/analyze.sh gcc tidy cppcheck

# Search for new inputs until each target has had FUZZ_SECONDS of a processor in all; it goes on where it was left.
FUZZ_SECONDS ?= 30
fuzz:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang SAN=fuzzer-no-link,address,undefined fuzz-search
.PHONY: fuzz-search
fuzz-search: $(FUZZ_LIVE)
	@CASES='tests/cases $(wildcard $(HALITE_CASES))' tests/fuzz/search.sh $(BUILD) $(FUZZ_SECONDS) $(FUZZ)

# Daemons at work while processes die, disks fill up and networks break: make chaos ROUNDS=300 SEED=7 [ONLY=12] CHAOS='--minions 5'
ROUNDS ?= 20
.PHONY: chaos
chaos: $(BIN) $(PRELOAD)
	@python3 -B tests/chaos/chaos.py $(BUILD) --rounds $(ROUNDS) --seed $(SEED) $(if $(ONLY),--only $(ONLY)) $(CHAOS)

# What a table must hold: see the scripts. The sample configurations are what the option table prints.
$(BUILD)/tests/lint/conf_sample: $(BUILD)/obj/tests/lint/conf_sample.o $H
	$(call link,$(LIBS_BASE))
$(BUILD)/tests/lint/tables: $(call obj1,tests/lint/tables.c) $(MASTER_ROWS) $(UNIT_LIBS)
	$(call link,-lczmq -lzmq -lsqlite3 $(LIBS_BASE))
# What gcc builds, clang must take as well: it is asked for its opinion only.
.PHONY: lint-clang
lint-clang: $(GEN) $(PYTHON_TEXTS) $(PAGE_TEXTS) $(RUNNER_NAMES) $(BUILD)/gen/places.h
	@git ls-files -co --exclude-standard 'src/*.c' 'tests/*.c' ':!tests/preload' | xargs -P2 -n24 clang -fsyntax-only $(CPPFLAGS) -Itests -DTEST_SOURCE_DIR='""' -std=gnu17 $(WARN) || \
	    { echo 'lint: clang refuses what gcc takes'; exit 1; }
lint: lint-clang man $(BUILD)/tests/lint/conf_sample $(BUILD)/tests/lint/tables
	@rc=0; for s in tests/lint/*.sh; do BUILD=$(abspath $(BUILD)) $$s || { echo "lint: $$s failed"; rc=1; }; done; exit $$rc
.PHONY: samples
samples: $(BUILD)/tests/lint/conf_sample
	@for side in master minion; do $< $$side >conf/$$side; done

# Manual pages and completion scripts are printed from the tables that the programs read. HOST_RUN runs a program of another
# architecture, when such ones are built.
HOST_RUN ?=
MANUAL := $(call sources,src/manual)
PAGES  := salt.1 salt-run.1 salt-key.1 salt-call.1 salt-cp.1 salt-master.8 salt-minion.8 salt-api.8 salt-master.conf.5 salt-minion.conf.5 salt-beacons.7 salt-returners.7
SHELLS := bash zsh fish
MAN    := $(addprefix $(BUILD)/man/,$(PAGES))
SCRIPT := $(foreach shell,$(SHELLS),$(patsubst %,$(BUILD)/completion/%.$(shell),$(BINS)))
$(BUILD)/libmanual.a: $(call objects,$(filter-out src/manual/main_%,$(MANUAL))); $(archive)
$(BUILD)/manual: $(call obj1,src/manual/main_manual.c) $(MASTER_ROWS) $(BUILD)/libmanual.a $(UNIT_LIBS)
	$(call link,-lczmq -lzmq -lsqlite3 $(LIBS_BASE))
# Pages of section 7 are documents.
$(BUILD)/man/salt-beacons.7: DOCUMENT := docs/beacons.md
$(BUILD)/man/salt-returners.7: DOCUMENT := docs/returners-and-engines.md
$(BUILD)/man/salt-beacons.7: docs/beacons.md
$(BUILD)/man/salt-returners.7: docs/returners-and-engines.md
$(MAN) $(SCRIPT): $(BUILD)/manual
	@mkdir -p $(@D); $(HOST_RUN) $< $(@F) $(HALITE_DATE) $(DOCUMENT) >$@.new && mv $@.new $@
.PHONY: man
man: $(MAN) $(SCRIPT)

# Figures, not tests: a table on the terminal and in $(BUILD)/bench.json. BENCH="--quick" and so on: see bench.py.
BENCH_BIN := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/*.c))
$(BENCH_BIN): $(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/%.o $(UNIT_LIBS)
	$(call link,-lczmq -lzmq -lsqlite3 $(LIBS_BASE))
# How many state functions of public trees are built in; the list is not part of this tree. HALITE_SALT=FOLDER, which has Salt's
# package, counts its own files too, on this machine and where tests/installed/libraries.bats has been.
COVERAGE ?= ../shared/research/coverage.tsv
.PHONY: coverage
coverage: $(BUILD)/tests/lint/tables $(BUILD)/bin/salt-call
	@tests/lib/coverage.py $< $(COVERAGE) $(BUILD)/bin/salt-call $(patsubst %,--also %,$(wildcard $(BUILD)/coverage.json))
.PHONY: bench bench-build bench-templates bench-history bench-instructions
# Of a job and of a return, by thread: the same on any day. TOP=30 shows the dearest functions too.
TOP     ?= 0
bench-instructions: bench-build
	@python3 -B tests/bench/instructions.py --build $(BUILD) --top $(TOP)
bench-templates: $(BUILD)/tests/bench/template_bench
	@/usr/bin/python3 -B tests/bench/templates.py $<
bench-build: all $(BENCH_BIN)
bench: bench-build
	@python3 -B tests/bench/bench.py --build $(BUILD) $(BENCH)
# An hour under every load, then a minion's 100,000 jobs. SOAK="fleet --minutes 15" and so on: see soak.py.
.PHONY: soak
soak: bench-build
ifdef SOAK
	@python3 -B tests/bench/soak.py --build $(BUILD) $(SOAK)
else
	@python3 -B tests/bench/soak.py --build $(BUILD) fleet
	@python3 -B tests/bench/soak.py --build $(BUILD) minion
endif
# The same of salt-api: Salt's stress recipe for an hour. SOAK_API="--minutes 15": see soak_api.py.
.PHONY: soak-api
soak-api: bench-build
	@python3 -B tests/bench/soak_api.py --build $(BUILD) $(SOAK_API)
# A long past: five gigabytes below $TMPDIR, for a quarter of an hour.
JOBS    ?= 1000000
RETURNS ?= 10
bench-history: bench-build
	@python3 -B tests/bench/bench.py --build $(BUILD) --only history --history $(JOBS) $(RETURNS)

# ---- demo ----------------------------------------------------------------------------------------------------------
.PHONY: demo
demo:
	@tests/lib/deps.sh build
	@$(MAKE) --no-print-directory all
	@srv/demo.sh $(BUILD)/bin $(if $(KEEP),keep)

# ---- installation ----------------------------------------------------------------------------------------------------
# conf/package/install.sh says what goes where. A PREFIX other than /usr is a tree that lives beside a Salt.
INSTALLER = BUILD='$(BUILD)' PREFIX='$(PREFIX)' SYSCONF='$(SYSCONF)' UNITS='$(UNITS)' DESTDIR='$(DESTDIR)' FORCE='$(FORCE)' conf/package/install.sh
.PHONY: install uninstall deb rpm help clean format
install: $(BIN) $(PYTHON) $(MAN) $(SCRIPT)
	@$(INSTALLER) install
uninstall:
	@$(INSTALLER) uninstall
# Debian packages and their debug symbols, in $(BUILD)/deb. DEB_HOST_ARCH=arm64 builds for another architecture, whose compiler and
# libraries must be there (crossbuild-essential-arm64, and of conf/package/debian/control what the build depends on, of arm64).
PACKAGE_VERSION ?= $(subst -,~,$(HALITE_RELEASE))
deb:
	@tests/lib/deps.sh $(if $(DEB_HOST_ARCH),,build) package
	@conf/package/deb.sh $(BUILD) '$(PACKAGE_VERSION)' $(if $(DEB_HOST_ARCH),-a$(DEB_HOST_ARCH) -Pcross$(comma)nocheck)
# RPM packages and their debug symbols, in $(BUILD)/rpm.
rpm:
	@tests/lib/deps.sh build rpm
	@conf/package/rpm.sh $(BUILD) '$(PACKAGE_VERSION)'
# The packages in booted Debians of their own, where this machine can boot one and get it: tests/installed/root.sh.
.PHONY: test-installed test-bare test-full
INSTALLED ?= $(sort $(wildcard tests/installed/*.bats))
test-installed: ; @BUILD=$(BUILD) INSTALLED='$(INSTALLED)' tests/installed/test.sh $(or $(HALITE_SUITE),bookworm)
# The README's commands on Debians that have nothing yet. HALITE_SUITE, HALITE_USER, HALITE_GOALS narrow it: see the script.
test-bare: ; @BUILD=$(BUILD) tests/installed/bare.sh
# What takes too long for every change: two hours.
test-full:
	@$(MAKE) --no-print-directory test-installed HALITE_SUITE='bookworm trixie'
	@$(MAKE) --no-print-directory test-bare

# A plug-in to begin with: make new-exec NAME=greeting; also state, grain, runner, wheel.
new-%: ; @tests/lib/new.sh $* '$(NAME)'
# The flags of each file, for clangd and its like, which look into build/.
.PHONY: compile-commands
compile-commands: export COMPILE := $(CC) $(CPPFLAGS) -Itests -DTEST_SOURCE_DIR='"$(CURDIR)"' $(CFLAGS)
compile-commands: $(GEN) $(BUILD)/gen/places.h $(PYTHON_TEXTS) $(PAGE_TEXTS) $(RUNNER_NAMES)
	@git ls-files -co --exclude-standard 'src/*.c' 'tests/*.c' | python3 -c 'import json, os, sys; print(json.dumps([ \
	    {"directory": os.getcwd(), "file": f, "command": os.environ["COMPILE"] + " -c " + f} for f in sys.stdin.read().split()], indent=1))' \
	    >$(BUILD)/compile_commands.json

help:
	@echo 'make                 build the eight programs into $$(BUILD)/bin'
	@echo 'make deps            install what building and testing need (Debian; root or sudo)'
	@echo 'make test            deps, build, and all tests; the last line is "N passed, N failed"'
	@echo 'make check-unit      unit tests        make check-fuzz   fuzz inputs replayed'
	@echo 'make check-python    tests of the package salt for modules and scripts'
	@echo 'make check-cases     case files of templates and YAML; HALITE_CASES=DIR for recorded ones'
	@echo 'make check-trees     templates of state trees against python3-jinja2; TREES="DIR..."'
	@echo 'make check-random    random templates against python3-jinja2; TEMPLATES=10000 SEED=1'
	@echo 'make check-t         whole programs    BATS=tests/t/3*.bats narrows them'
	@echo 'make hostile         hostile names of files, ids, environments; NAMES=10000 for each place'
	@echo 'make check-states    every state over random inputs, for real, in machines of their own (root); INPUTS=5 SEED=1 ONLY='
	@echo 'make check-peer      marks of what peers said, through all filters and methods; ROUNDS=1000 TEMPLATES=10000 SEED=1'
	@echo 'make lint            layers, sizes, banned functions, format, options, samples, scripts'
	@echo 'make asan|ubsan|tsan the tests under a sanitizer'
	@echo 'make valgrind        unit tests and some whole programs below memcheck'
	@echo 'make analyze         static analysis: gcc -fanalyzer, clang-tidy, cppcheck'
	@echo 'make fuzz            search for new inputs with libFuzzer, FUZZ_SECONDS=30 of a processor each in all'
	@echo 'make chaos           faults of all kinds at random, then an audit; ROUNDS=20 SEED=1, ONLY=ROUND repeats one'
	@echo 'make inject          every call that can fail does, once each; INJECT="--scenario GLOB --kind GLOB --places ..."'
	@echo 'make bench           figures: then run $$(BUILD)/tests/bench/NAME'
	@echo 'make soak-api        the same of salt-api, under the stress recipe of Salt'
	@echo 'make soak            whether memory stays flat: an hour of a fleet, then a minion in fast motion'
	@echo 'make coverage        state functions of public trees that are built in; HALITE_SALT=FOLDER: and those of that Salt'
	@echo 'make bench-templates templates beside CPython and Jinja2'
	@echo 'make bench-history   a master with a long past; JOBS=1000000 RETURNS=10 of each'
	@echo 'make man             manual pages and completion scripts into $$(BUILD)/man and $$(BUILD)/completion'
	@echo 'make install         DESTDIR=, PREFIX=/usr, SYSCONF=/etc/salt, UNITS=/lib/systemd/system; make uninstall'
	@echo '                     PREFIX=/opt/halite: a tree beside a Salt; FORCE=1 writes over another one'
	@echo 'make deb | make rpm  Debian or RPM packages into $$(BUILD)/deb or $$(BUILD)/rpm; make deb DEB_HOST_ARCH=arm64'
	@echo 'make test-installed  the packages in a booted Debian: install, work, upgrade, reboot, remove; HALITE_SUITE=bookworm'
	@echo 'make test-bare       make demo and make test on bare Debians; HALITE_SUITE="bookworm trixie noble" HALITE_USER="root sudo"'
	@echo 'make test-full       test-installed of both Debians, and test-bare: two hours'
	@echo 'make new-exec NAME=x a new execution module with its table and a case; new-state, new-grain, new-runner, new-wheel'
	@echo 'make compile-commands $$(BUILD)/compile_commands.json, for clangd and its like'
	@echo 'make samples format  write conf/master and conf/minion; run clang-format'
	@echo 'Variables: BUILD=build  CC=gcc|clang  SAN=address|undefined|thread  V=1'

clean:
	rm -rf $(BUILD)
format:
	clang-format -i $$(git ls-files -co --exclude-standard '*.c' '*.h')

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
