# Owns one PostgreSQL: makes its data, starts and stops it as told on stdin, and ends it when stdin ends, which
# is when the process of the tests is gone. Arguments: the folder of the programs, the folder for the data, the
# port. Says `up` or `down` once it is so; anything else is what went wrong.

bin=$1 folder=$2 port=$3
# Or output of a program, or a client that is gone, would end the keeper before its server.
trap '' PIPE HUP INT TERM

# PostgreSQL refuses to be root; its user comes with Debian's package. It dies with this shell, come what may.
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
    # Somebody else's server may answer on that port.
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
