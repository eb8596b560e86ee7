"""What the packages fitparse and fitdecode read of FIT files: one JSON object on standard output.

Called with a folder of packages, and files. Values are those of the fields that the crate reads.
"""

import datetime
import json
import sys

sys.path.insert(0, sys.argv[1])

import fitdecode  # noqa: E402
import fitparse  # noqa: E402

RECORD = ["heart_rate", "power", "distance"]
SESSION = [
    "total_timer_time",
    "total_distance",
    "avg_heart_rate",
    "max_heart_rate",
    "avg_power",
    "normalized_power",
]


def seconds(time):
    """Seconds since 1970: fitparse has times without a zone, in UTC."""
    if not isinstance(time, datetime.datetime):
        return None
    if time.tzinfo is None:
        time = time.replace(tzinfo=datetime.timezone.utc)
    return int(time.timestamp())


def number(value):
    return float(value) if isinstance(value, (int, float)) else None


def taken(found, name, get):
    if name == "record":
        speed = get("enhanced_speed")
        record = {field: number(get(field)) for field in RECORD}
        record["speed"] = number(speed if speed is not None else get("speed"))
        record["time"] = seconds(get("timestamp"))
        found["records"].append(record)
    elif name == "session":
        session = {field: number(get(field)) for field in SESSION}
        session["sport"] = str(get("sport"))
        session["start"] = seconds(get("start_time"))
        found["sessions"].append(session)
    elif name == "activity":
        found["activities"].append([seconds(get("timestamp")), seconds(get("local_timestamp"))])


def by_fitparse(path):
    found = {"records": [], "sessions": [], "activities": []}
    for message in fitparse.FitFile(path).get_messages():
        taken(found, message.name, message.get_value)
    return found


def by_fitdecode(path):
    found = {"records": [], "sessions": [], "activities": []}
    with fitdecode.FitReader(path) as reader:
        for frame in reader:
            if isinstance(frame, fitdecode.FitDataMessage):
                taken(found, frame.name, lambda field, frame=frame: frame.get_value(field, fallback=None))
    return found


print(json.dumps({path: {"fitparse": by_fitparse(path), "fitdecode": by_fitdecode(path)} for path in sys.argv[2:]}))
