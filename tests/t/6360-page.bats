#!/usr/bin/env bats
# The page of our own: files, headers and what stays as it was for programs; then each view in a headless Chromium.
load lib
load api

EVIL='<img src=x onerror=window.pwned=1>'

setup_file() {
    export FLEET
    fleet_new_roots
    MORE_LINES=("file_roots: {base: [$BATS_FILE_TMPDIR/srv]}" "reactor: [{'nothing/*': [$BATS_FILE_TMPDIR/srv/none.sls]}]" "presence_events: True")
    api_up m1 m2
    start_minion waiting
    wait_key waiting pre
    salt '*' state.apply test=True --out=quiet || :
    salt '*' state.apply --out=quiet || :
    salt m1 test.echo "$EVIL" --out=quiet
    salt-run state.orchestrate deploy --out=quiet || :
}
teardown_file() { fleet_down; }

# The states of the fleet: one that changes a file of the test, one that fails, one that is not run then, one whose ID is markup.
fleet_new_roots() {
    mkdir -p "$BATS_FILE_TMPDIR/srv"
    echo "base: {'*': [tree]}" >"$BATS_FILE_TMPDIR/srv/top.sls"
    cat >"$BATS_FILE_TMPDIR/srv/tree.sls" <<SLS
greeting:
  file.managed: [{name: $BATS_FILE_TMPDIR/{{ grains.id }}}, {contents: hello}]
breaks:
  test.fail_without_changes: []
after:
  test.nop: [{require: [{test: breaks}]}]
"$EVIL":
  test.succeed_with_changes: []
SLS
    cat >"$BATS_FILE_TMPDIR/srv/deploy.sls" <<'SLS'
first:
  salt.function: [{name: test.ping}, {tgt: m1}]
second:
  salt.function: [{name: test.fib}, {tgt: m2}, {arg: [nonsense]}, {require: [{salt: first}]}]
third:
  salt.function: [{name: test.ping}, {tgt: m2}, {require: [{salt: second}]}]
SLS
}

head_of() { curl -si --path-as-is "$API$1" "${@:2}" | tr -d '\r' | sed '/^$/q'; }
code_of() { curl -s -o /dev/null --path-as-is -w '%{http_code}' "$API$1" "${@:2}"; }

# ---- without a browser -----------------------------------------------------------------------------------------------

@test "browsers get the page at /, programs what they always got" {
    head_of / -H 'Accept: text/html,application/xhtml+xml,*/*;q=0.8' >"$BATS_TEST_TMPDIR/head"
    grep -x 'HTTP/1.1 200 OK' "$BATS_TEST_TMPDIR/head"
    grep -x 'Content-Type: text/html;charset=utf-8' "$BATS_TEST_TMPDIR/head"
    for accept in '*/*' 'application/json' 'text/html;q=0.5, application/json'; do
        [ "$(curl -s "$API/" -H "Accept: $accept" | field return)" = Welcome ]
    done
    [ "$(curl -s "$API/" | field return)" = Welcome ]
    [ "$(code_of /anything -H 'Accept: text/html')" = 404 ]
    [ "$(code_of /login -H 'Accept: text/html')" = 406 ]
    [ "$(code_of /page -X POST)" = 405 ]
}

@test "each file comes with a policy under which nothing foreign runs" {
    for file in "" /app.js /page.css /icon.svg /theme.js; do
        head_of "/page$file" >"$BATS_TEST_TMPDIR/head"
        grep -x "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'.*" "$BATS_TEST_TMPDIR/head"
        grep -x 'X-Content-Type-Options: nosniff' "$BATS_TEST_TMPDIR/head"
        grep -x 'Referrer-Policy: no-referrer' "$BATS_TEST_TMPDIR/head"
        grep -x 'Cache-Control: no-cache' "$BATS_TEST_TMPDIR/head"
    done
    head_of /page/app.js | grep -x 'Content-Type: text/javascript;charset=utf-8'
    head_of /page/page.css | grep -x 'Content-Type: text/css;charset=utf-8'
    # No markup is made of texts, no script or style stands in the page, nothing comes from elsewhere.
    cd "$HALITE_SRC/src/api/page"
    not grep -nE 'innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function' ./*
    not grep -nE '<style|style=|onclick=|<script>' index.html
    not grep -nEi 'https?://' app.js api.js [f-t]*.js *.css index.html
}

@test "the files are these and no others, small, and known again by their ETag" {
    local sum=0 file etag
    for file in "$HALITE_SRC"/src/api/page/*; do
        curl -s "$API/page/${file##*/}" | cmp - <(sed 's/@PREFIX@//g' "$file")
        sum=$((sum + $(stat -c %s "$file")))
    done
    [ "$sum" -lt 150000 ]
    for path in /page/nothing.js /page/../page/app.js /page/%2e%2e/route.c /page//app.js /page/app.js/x '/page/..%2f..%2fetc/passwd'; do
        case $(code_of "$path") in 400 | 403 | 404) ;; *) echo "$path: $(code_of "$path")" >&2 && return 1 ;; esac
    done
    etag=$(head_of /page/app.js | sed -n 's/^ETag: //p')
    [ "$(code_of /page/app.js -H "If-None-Match: $etag")" = 304 ]
    [ "$(code_of /page/app.js -H 'If-None-Match: "other"')" = 200 ]
    [ "$(curl -s -X HEAD -o /dev/null -w '%{http_code}' -I "$API/page/app.js")" = 200 ]
}

@test "the page asks for what reads, and for nothing that changes anything" {
    cd "$HALITE_SRC/src/api/page"
    same_as "$(grep -ohE "(runner|runnerText)\('[a-z_.]+'" *.js | sed "s/.*'\(.*\)'/\1/" | sort -u)" <<'FUNS'
cache.grains
jobs.list_job
orchestrate.graph
orchestrate.list
orchestrate.show
overview.fleet
overview.health
overview.job
overview.jobs
overview.states
FUNS
    same_as "$(grep -ohE "client: '[a-z_]+'" *.js | sort -u)" <<<"client: 'runner'"
    [ "$(grep -ohE "request\('POST', '[a-z]*'" api.js | sort -u | wc -l)" -eq 3 ] # log-in, log-out, the runners above
}

@test "overview: its looks are kept as no jobs" {
    login admin
    local before
    before=$(salt-run jobs.list_jobs --out=json)
    for fun in fleet jobs states health; do
        api POST / "{\"client\":\"runner\",\"fun\":\"overview.$fun\"}" | python3 -c 'import json, sys; assert isinstance(json.load(sys.stdin)["return"][0], dict)'
    done
    [ "$(salt-run jobs.list_jobs --out=json)" = "$before" ]
}

@test "overview.fleet: up and waiting minions with address and version, and who is gone since when" {
    rows() { salt-run overview.fleet --out=json | python3 -c 'import json, sys; [print(*row[:4]) for row in json.load(sys.stdin)["rows"]]'; }
    until_true 10 eval 'rows | grep -q "^waiting pending 127.0.0.1 [0-9]"'
    rows | grep -E '^m1 up 127.0.0.1 [0-9]'
    stop m2
    until_true 10 eval 'rows | grep -q "^m2 down None [0-9]"'
    salt-run overview.fleet --out=json | python3 -c 'import json, sys, time; row = [r for r in json.load(sys.stdin)["rows"] if r[0] == "m2"][0]; assert 0 <= time.time() - row[4] / 1000 < 60, row'
    start_minion m2
    wait_connected m2
}

@test "overview.states: newest runs, and with test=True what drifted" {
    cells() { salt-run overview.states "$@" --out=json | python3 -c 'import json, sys; d = json.load(sys.stdin); print(*[c[0] for c in d["columns"]][:3], *[row[2] for row in d["rows"].values()])'; }
    [ "$(cells)" = 'greeting breaks after cfsc cfsc' ]
    [ "$(cells test=True)" = 'greeting breaks after xfsx xfsx' ]
    echo other >"$BATS_FILE_TMPDIR/m1"
    salt '*' state.apply test=True --out=quiet || :
    [ "$(cells test=True)" = 'greeting breaks after xfsx ofsx' ]
}

@test "without it, or with an app, / is as it was" {
    stop api
    cp "$MASTER_CONF" "$BATS_TEST_TMPDIR/conf"
    sed -i 's/^rest_cherrypy:/&\n  page: False/' "$MASTER_CONF"
    start_api
    [ "$(code_of / -H 'Accept: text/html')" = 406 ]
    [ "$(code_of /page/app.js)" = 404 ]
    stop api
    echo '<p>the app</p>' >"$BATS_TEST_TMPDIR/app.html"
    sed -i "s#^  page: False#  app: $BATS_TEST_TMPDIR/app.html#" "$MASTER_CONF"
    start_api
    [ "$(curl -s "$API/" -H 'Accept: text/html')" = '<p>the app</p>' ]
    stop api
    sed "s#^rest_cherrypy:#&\n  root_prefix: /salt/#" "$BATS_TEST_TMPDIR/conf" >"$MASTER_CONF"
    start_api
    [ "$(code_of /page/app.js)" = 404 ]
    curl -s "$API/salt" -H 'Accept: text/html' | grep -F 'src="/salt/page/app.js"'
    [ "$(code_of /salt/page/app.js)" = 200 ]
    stop api
    cp "$BATS_TEST_TMPDIR/conf" "$MASTER_CONF"
    start_api
}

# ---- in a browser ----------------------------------------------------------------------------------------------------

# browse [OPTION...]: the steps on stdin, then whether anything was said on the console. tests/lib/browser.py says what steps there are.
browse() {
    command -v chromium >/dev/null || skip "chromium is not installed (Debian: chromium)"
    { cat && echo console; } >"$BATS_TEST_TMPDIR/steps"
    SLOW=$SLOW python3 -B "$HALITE_SRC/tests/lib/browser.py" "$@" <"$BATS_TEST_TMPDIR/steps"
}
# logs_in USER [HASH]: steps.
logs_in() {
    cat <<STEPS
go $API/
wait 20 document.activeElement?.name === 'username'
type $1
key Tab
type $SECRET
key Tab
say document.activeElement.select()
type sharedsecret
key Enter
wait 20 document.querySelector('nav a')
say void (location.hash = '${2:-#/fleet}')
STEPS
}
sees() { printf "wait 20 document.querySelector('main').innerText.includes('%s')\n" "$@"; }

@test "log in with the keyboard, a wrong password first; log out" {
    browse <<STEPS
go $API/
wait 20 document.activeElement?.name === 'username'
type admin
key Tab
type wrong
key Tab
say document.activeElement.select()
type sharedsecret
key Enter
wait 20 document.querySelector('[role=alert]').innerText.includes('not right')
is document.querySelector('[name=password]').value === '' && document.activeElement.name === 'password'
type $SECRET
key Enter
wait 30 document.querySelector('nav a[aria-current]')?.innerText === 'Fleet'
is JSON.parse(sessionStorage.getItem('halite-session')).token.length === 40
is document.cookie === ''
click #logout
wait 20 document.querySelector('[role=alert]')?.innerText === 'You are logged out.'
is sessionStorage.length === 0
STEPS
}

@test "fleet: figures, search, state and the grains of one" {
    browse < <(
        logs_in admin
        sees m1 m2 waiting pending connected 127.0.0.1
        cat <<'STEPS'
is [...document.querySelectorAll('.tiles b')].map((b) => b.innerText).join() === '3,2,0,1'
key /
is document.activeElement.matches('.search')
type M?
wait 10 document.querySelectorAll('.rows .row').length === 2
key Escape
click .tiles [data-value=pending]
wait 10 document.querySelector('.rows').innerText.includes('No minion fits')
say (document.querySelector('.search').value = '', document.querySelector('.search').dispatchEvent(new Event('input')), 1)
wait 10 document.querySelector('.rows .row .id')?.innerText === 'waiting'
click .tiles [data-value=up]
say document.querySelector('.list .scroll').focus()
key j
wait 10 document.querySelector('.rows .row.at .id').innerText === 'm2'
is document.getElementById(document.querySelector('.scroll').getAttribute('aria-activedescendant')).innerText.includes('m2')
key Enter
wait 20 document.querySelector('.panel').innerText.includes('kernelrelease')
key Escape
wait 10 !document.querySelector('.panel')
is document.activeElement.matches('.scroll')
STEPS
    )
}

@test "jobs: along time with verdicts, one job, one return" {
    browse < <(
        logs_in admin '#/jobs'
        sees state.apply test.echo returned failed
        cat <<'STEPS'
is document.querySelectorAll('.timeline rect').length > 0
click .bar [data-value=failed]
wait 10 [...document.querySelectorAll('.rows .row .state')].every((c) => c.innerText.includes('failed'))
key /
type state.apply
wait 10 document.querySelectorAll('.rows .row').length >= 2
click .rows .row
wait 20 document.querySelector('main h2')?.innerText.startsWith('state.apply')
wait 20 document.querySelectorAll('.rows .row').length === 2
click .rows .row
wait 20 document.querySelector('.panel')?.innerText.includes('failed 1')
is document.querySelector('.panel').innerText.includes('test.fail_without_changes')
STEPS
    )
}

# What an accepted minion that was turned says: arguments that are no list, functions and states of odd shapes, in jobs of its own
# and in events.
odd_says() {
    local dir=$FLEET/odd server=$FLEET/master/etc/salt/pki/master/master.pub n=0 jid fun args
    mkdir -p "$dir"
    says() { "$HALITE_TOOLS/fakepeer" dealer 127.0.0.1 $((PORT + 1)) "$server" "$dir" odd "$@"; }
    local hello='{"m":"hello","id":"odd","role":"minion","boot":"b","proto":1,"version":"3006.0","pending":[]}'
    says send "$hello" expect '"state":"pending"' && salt-key -y -a odd >/dev/null
    jid=$(date +%Y%m%d%H%M%S)
    for args in '{"a":1}' '"text"' 5 null '[{"__kwarg__":{"toString":1}},[{"toString":1,"valueOf":2}]]'; do
        for fun in '"test.odd"' '["test.odd","b"]' '["test.odd",{"toString":1,"valueOf":2}]'; do
            n=$((n + 1))
            says send "$hello" expect '"accepted"' \
                send "{\"m\":\"ret\",\"n\":$n,\"id\":\"odd\",\"jid\":\"${jid}$((800000 + n))\",\"fun\":$fun,\"fun_args\":$args,\"return\":{\"test_|-a_|-b_|-c\":{\"result\":{},\"comment\":{\"toString\":1,\"valueOf\":2},\"changes\":5}},\"retcode\":0,\"success\":true}" \
                send "{\"m\":\"event\",\"n\":$n,\"tag\":\"odd/said\",\"data\":{\"fun\":{\"toString\":1,\"valueOf\":2},\"return\":$args}}" send "$hello" expect '"accepted"'
        done
    done >/dev/null
}

@test "what a minion says in odd shapes keeps nobody from jobs, returns and events" {
    odd_says
    browse < <(
        logs_in admin '#/jobs'
        sees test.odd state.apply test.echo
        cat <<'STEPS'
is [...document.querySelectorAll('.rows .row')].filter((row) => row.innerText.includes('test.odd')).length >= 5
key /
type test.odd
wait 10 [...document.querySelectorAll('.rows .row')].every((row) => row.innerText.includes('test.odd'))
click .rows .row
wait 20 document.querySelector('main h2')?.innerText.startsWith('test.odd')
wait 20 document.querySelectorAll('.rows .row').length === 1
click .rows .row
wait 20 document.querySelector('.panel')
say void (location.hash = '#/events')
wait 20 document.querySelector('.live')?.dataset.word === 'on'
say window.still = 1
STEPS
        echo 'wait 30 document.querySelector(".live")?.dataset.word === "on"'
    )
    salt-key -y -d odd >/dev/null
}

@test "states: the matrix by keyboard, and drift" {
    browse < <(
        logs_in admin '#/states'
        sees 'failed 2' 'not run 2' '2 minions, 4 states'
        cat <<'STEPS'
say document.querySelector('.matrix').focus()
key ArrowRight
wait 10 document.querySelector('.said-cell').innerText.includes('failed breaks')
key ArrowRight
wait 10 document.querySelector('.said-cell').innerText.includes('not run after')
key Enter
wait 20 document.querySelector('.panel')?.innerText.includes('One or more requisite failed')
key Escape
click [data-value=drift]
wait 20 document.querySelector('.legend')?.innerText.includes('would change')
STEPS
    )
}

@test "orchestrations: the graph, its steps by keyboard, and one that runs" {
    printf 'slow:\n  salt.function: [{name: test.sleep}, {tgt: m1}, {arg: [4]}]\n' >"$BATS_FILE_TMPDIR/srv/slow.sls"
    (until_true 60 test -e "$BATS_TEST_TMPDIR/go" && salt-run state.orchestrate slow --out=quiet) 3>&- &
    browse < <(
        logs_in admin '#/runs'
        sees deploy 'done 1' 'failed 1' 'not run 1'
        cat <<STEPS
is document.querySelectorAll('svg .step').length === 3
is document.querySelector('.step.bad').getAttribute('aria-label').startsWith('second, salt.function, failed, 1 of 1')
say document.querySelector('.step').focus()
key ArrowRight
is document.activeElement.getAttribute('aria-label').startsWith('second')
key Enter
wait 20 document.querySelector('.panel h2')?.innerText === 'second'
key Escape
shot $BATS_TEST_TMPDIR/go
say void (location.hash = '#/runs')
wait 30 document.querySelector('.side-list').innerText.includes('slow')
say void (location.hash = document.querySelector('.side-list a').hash)
wait 30 document.querySelector('.step.info')
wait 30 document.querySelector('.step.ok')
STEPS
    )
    wait
}

@test "events: as they come, by tag, text and kind; held" {
    (until_true 60 test -e "$BATS_TEST_TMPDIR/go" && salt-run event.send "my/tag/$EVIL" "{'text': '$EVIL', 'word': 'needle'}" --out=quiet && salt m1 test.ping --out=quiet) 3>&- &
    browse < <(
        logs_in admin '#/events'
        cat <<STEPS
wait 20 document.querySelector('.live').dataset.word === 'on'
shot $BATS_TEST_TMPDIR/go
wait 30 document.querySelector('.rows').innerText.includes('my/tag/<img')
wait 30 document.querySelector('.rows').innerText.includes('/ret/m1')
click [data-value=job]
wait 10 [...document.querySelectorAll('.rows .row .tag')].every((c) => /^salt\/job|^\d+\$/.test(c.innerText))
click [data-value=""]
key /
type my/tag/*
wait 10 document.querySelectorAll('.rows .row').length === 1
key Escape
key p
is document.querySelector('#hold').getAttribute('aria-pressed') === 'true'
key p
click .rows .row
wait 10 document.querySelector('.panel').innerText.includes('needle')
is window.pwned === undefined && !document.querySelector('img[src="x"]')
STEPS
    )
    wait
}

@test "health: master, reactor and followers" {
    browse < <(
        logs_in admin '#/health'
        sees Master connections Reactor 'nothing/*' 'Nothing is stored elsewhere'
    )
}

@test "markup in a return, a state's ID or the address stays text" {
    local jid
    jid=$(salt-run jobs.list_jobs search_function=test.echo --out=json | grep -oE '[0-9]{20}' | tail -n 1)
    browse < <(
        logs_in admin "#/jobs/$jid"
        sees '<img src=x'
        cat <<STEPS
click .rows .row
wait 20 document.querySelector('.panel .json')?.innerText.includes('<img src=x')
is window.pwned === undefined && !document.querySelector('img[src="x"]')
say void (location.hash = '#/states')
wait 20 document.querySelector('.matrix')
say document.querySelector('.matrix').focus()
key End
key ArrowRight
key ArrowRight
key ArrowRight
wait 10 document.querySelector('.said-cell').innerText.includes('<img src=x')
key Enter
wait 20 document.querySelector('.panel')?.innerText.includes('Success!')
say void (location.hash = '#/jobs/' + encodeURIComponent('$EVIL'))
wait 20 document.querySelector('main').innerText.includes('The job store has no job')
is window.pwned === undefined && !document.querySelector('img[src="x"]')
STEPS
    )
}

@test "who lacks a rule is told so in a sentence, view by view" {
    browse < <(
        logs_in limited
        sees 'none of your rules allows the runner overview.fleet'
        for view in states:overview.states runs:orchestrate.list health:overview.health; do
            echo "say void (location.hash = '#/${view%:*}')"
            sees "none of your rules allows the runner ${view#*:}"
        done
        echo "say void (location.hash = '#/jobs')" # what @jobs shows
        sees state.apply 'Without a rule for the runner overview.jobs'
    )
}

# The rules of docs/page.md.
@test "who has the rules for looking sees every view, and begins nothing" {
    browse < <(
        logs_in looker
        sees m1 waiting
        cat <<'STEPS'
click .rows .row:nth-child(2)
wait 20 document.querySelector('.panel')?.innerText.includes('kernelrelease')
say void (location.hash = '#/jobs')
STEPS
        sees state.apply failed
        echo "say void (location.hash = '#/states/drift')"
        sees 'would change'
        echo "say void (location.hash = '#/runs')"
        sees deploy 'critical path'
        echo "say void (location.hash = '#/health')"
        sees Reactor
        echo "say void (location.hash = '#/events')"
        sees 'own questions'
    )
    login looker
    [ "$(status_of POST / '{"client":"runner","fun":"test.arg"}')" = 401 ]
    [ "$(status_of POST / '{"client":"local","tgt":"*","fun":"test.ping"}')" = 401 ]
    [ "$(status_of POST / '{"client":"wheel","fun":"key.accept","match":"waiting"}')" = 401 ]
}

@test "shortcuts, appearance, and a session that has ended" {
    browse --dark < <(
        logs_in admin
        sees m1
        cat <<'STEPS'
is document.documentElement.dataset.theme === 'dark'
key t
wait 10 document.documentElement.dataset.theme === 'light'
key t
key t
wait 10 document.documentElement.dataset.chosen === 'auto'
key 3
wait 10 location.hash === '#/states'
say void ['6', '?'].forEach((key) => dispatchEvent(new KeyboardEvent('keydown', { key })))
wait 10 document.title.startsWith('Health')
say new Promise((done) => setTimeout(done))
is document.querySelector('.panel')?.innerText.includes('Shortcuts')
key Escape
key Tab
is getComputedStyle(document.activeElement).outlineStyle !== 'none'
say fetch('/logout', { method: 'POST', headers: { 'X-Auth-Token': JSON.parse(sessionStorage.getItem('halite-session')).token } }).then((a) => a.status)
key 1
wait 20 document.querySelector('[role=alert]')?.innerText.includes('Your session has ended')
STEPS
    )
}

@test "nothing runs over the edge of a phone, a desk or a wall" {
    browse < <(
        logs_in admin
        sees m1
        for size in '390 844' '1280 800' '2560 1440'; do
            echo "size $size"
            for view in fleet jobs states runs events health; do
                echo "say void (location.hash = '#/$view')"
                echo "wait 20 document.querySelector('.view.$view') && !document.querySelector('main').innerText.includes('Asking the master')"
                echo "is document.documentElement.scrollWidth <= innerWidth && document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth"
            done
        done
    ) >/dev/null
}
