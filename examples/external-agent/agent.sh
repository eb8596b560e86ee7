#!/bin/sh
# An agent of any framework holds short: it asks a person through Holdshort and waits for the decision.
set -eu

url="${HOLDSHORT_URL:-http://127.0.0.1:7349}"
# Under the same key the question is asked once, however often this is sent: keep it with your task.
key="${1:-$(cat /proc/sys/kernel/random/uuid)}"

call() { # METHOD PATH [CURL OPTIONS]; the token goes through a file descriptor, not through the list of processes
    method="$1" path="$2"
    shift 2
    curl --silent --show-error --fail-with-body --request "$method" --config - "$@" "$url$path" <<CONFIG
header = "Authorization: Bearer $HOLDSHORT_AGENT_TOKEN"
header = "Content-Type: application/json"
CONFIG
}
field() { python3 -c 'import json, sys; value = json.load(sys.stdin)[sys.argv[1]]; print(value if isinstance(value, str) else json.dumps(value))' "$1"; }

interrupt=$(call POST /v1/interrupts --header "Idempotency-Key: $key" --data '{
    "kind": "question",
    "title": "Which region should the new database be in?",
    "payload": {"question": "eu-west costs 12 % more and is closer to the users. Which one?"}
}')
id=$(printf '%s' "$interrupt" | field id)
echo "holding short: $id" >&2

while [ "$(printf '%s' "$interrupt" | field status)" = open ]; do # nothing is lost if this stops here and starts again
    interrupt=$(call GET "/v1/interrupts/$id?wait=25")
done

resolution=$(printf '%s' "$interrupt" | field resolution)
printf '%s\n' "$resolution"
[ "$(printf '%s' "$resolution" | field outcome)" = answered ]
