# museum.bash - what the museum's tests share: a fleet with two honest minions, an accepted one that was turned, strangers,
# and a mark that no attack may leave. `load ../t/lib` and `load museum` at the top.

# museum_up [LINE...]: a master with these lines; m1, m2; the key of `evil`, which is accepted and has no program any more.
museum_up() {
    fleet_new
    mkdir -p "$FLEET"/{srv,pillar,keys}
    printf "base:\n  '*': [one]\n" >"$FLEET/pillar/top.sls"
    printf 'whose: {{ opts.id }}\nsecret: pillar-of-{{ opts.id }}\n' >"$FLEET/pillar/one.sls"
    echo served >"$FLEET/srv/file"
    start_master "file_roots: {base: [$FLEET/srv]}" "pillar_roots: {base: [$FLEET/pillar]}" "$@"
    start_minion m1
    start_minion m2
    export SERVER=$FLEET/master/etc/salt/pki/master/master.pub MINIONS=$FLEET/master/etc/salt/pki/master/minions
    accept m1 m2
    evil send "$(hello evil)" expect '"state":"pending"' >/dev/null
    salt-key -y -a evil >/dev/null
    wait_connected m1 m2
    wait_grains m1 m2
}

# After each attack: no mark anywhere, the master is the same process, its minions answer.
museum_whole() {
    local left
    left=$(find "$FLEET" -name 'harm*' 2>/dev/null)
    [ -z "$left" ] || { echo "an attack left $left" >&2; return 1; }
    ask '{"op":"status"}' | grep -q "\"pid\":$(pid_of master),"
    [ "$(salt -L m1,m2 test.ping --out=txt | sort | tr '\n' ' ')" = 'm1: True m2: True ' ]
}

peer() { "$HALITE_TOOLS/fakepeer" "$@"; }
# wire.py, not in a function where its process is the one that $! names.
WIRE=(python3 -B "$HALITE_SRC/tests/lib/wire.py")
wire() { "${WIRE[@]}" "$@"; }
# as NAME STEP...: on a connection with the key of that name, made when it is not there. evil STEP...: the turned minion.
as() { peer dealer 127.0.0.1 $((PORT + 1)) "$SERVER" "$FLEET/keys" "$@"; }
evil() { as evil "$@"; }
hello() { echo "{\"m\":\"hello\",\"id\":\"$1\",\"role\":\"minion\",\"boot\":\"b$RANDOM\",\"proto\":1,\"version\":\"3006.0\",\"pending\":[]}"; }
WELCOME='"m":"welcome","state":"accepted"'
# evil_says STEP...: after its hello; then the master has read all of it.
evil_says() { evil send "$(hello evil)" expect "$WELCOME" "$@" send "$(hello evil)" expect "$WELCOME"; }
# fleet_files [WORD...]: the fleet's files by name (find's words: more folders, conditions), once no minion keeps a job's for the master any more.
fleet_files() {
    until_true 10 eval '[ -z "$(find "$FLEET"/m? -name "*.run" -o -name "*.ret")" ]'
    find "$FLEET" "$@" -type f | grep -v /log/ | sort
}
# How many jobs the master has begun.
begun() { counter jobs; }
needs_root() { [ "$(id -u)" -eq 0 ] || skip "needs root to become somebody else"; }
