# Owns one PostgreSQL server: creates its data, and starts, stops and crashes it as standard input says. Ends the server
# when standard input ends, because the test process is then gone. Arguments: directory of PostgreSQL's programs, data
# directory, port. Prints `up` or `down` when the server has started or stopped. Any other output is an error.

bin=$1 folder=$2 port=$3
# A signal, or a closed pipe, must not end the keeper before its server.
trap '' PIPE HUP INT TERM

# PostgreSQL refuses to run as root, so it runs as the user that Debian's package creates. If this shell dies, the
# kernel sends SIGINT to PostgreSQL.
if [ "$(id -u)" = 0 ]; then
    as="setpriv --reuid=postgres --regid=postgres --clear-groups --pdeathsig INT --"
    owner=postgres
else
    as="setpriv --pdeathsig INT --"
    owner=$(id -un)
fi

make() {
    mkdir -m 700 "$folder" && chown "$owner" "$folder" &&
        $as "$bin/initdb" --pgdata "$folder/data" --username postgres --auth trust --encoding UTF8 \
            --locale C.UTF-8 --no-sync >"$folder.log" 2>&1
}

up() {
    $as "$bin/postgres" -D "$folder/data" -c listen_addresses=127.0.0.1 -c port="$port" \
        -c unix_socket_directories= -c max_connections=500 -c shared_buffers=64MB >>"$folder.log" 2>&1 </dev/null &
    server=$!
    deadline=$(($(date +%s) + 60))
    until "$bin/pg_isready" --quiet --host 127.0.0.1 --port "$port"; do
        kill -0 "$server" 2>/dev/null || return 1
        if [ "$(date +%s)" -gt "$deadline" ]; then
            echo "not ready after a minute" >>"$folder.log"
            return 1
        fi
        sleep 0.05
    done
    # `pg_isready` may have reached a foreign server on that port.
    kill -0 "$server" 2>/dev/null
}

down() {
    [ -n "$server" ] && kill -"$1" "$server" 2>/dev/null && wait "$server"
    server=
}

answer() {
    if "$@"; then echo up; else cat "$folder.log"; exit 1; fi
}

trap 'down INT; rm -rf "$folder" "$folder.log"' EXIT
make_and_start() { make && up; }
answer make_and_start
while read -r order; do
    case $order in
        start) answer up ;;
        stop) down INT; echo down ;;
        crash) down QUIT; echo down ;;
    esac
done
